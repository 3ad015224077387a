import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import BackgrounderDaemon

/// Every command, option, route, event, configuration key, variable, target, type and file that a page names exists.
@Suite(.computing) struct NamesTests {
    private static let keys = Set(Keys.names)
    private static let sections = Set(keys.compactMap { $0.contains(".") ? String($0.prefix { $0 != "." }) : nil })
    private static let options = Set((HelpTree.client.all + HelpTree.daemon.all).flatMap(\.options))

    @Test(arguments: Repository.pages)
    func `code blocks call only existing commands with existing options`(page: MarkdownPage) {
        for block in page.blocks where ["sh", "", "console"].contains(block.language) {
            let joined = block.lines.joined(separator: "\n").replacing("\\\n", with: " ")
            for line in joined.split(separator: "\n") {
                let problems = Invocation(String(line))?.problems ?? []
                #expect(problems.isEmpty, "\(page.path):\(block.line): \(line)")
            }
        }
    }

    @Test(arguments: Repository.pages)
    func `code spans name only existing commands and options`(page: MarkdownPage) {
        for span in page.codeSpans {
            let problems = (Invocation(span.text) ?? Invocation(short: span.text))?.problems ?? []
            #expect(problems.isEmpty, "\(page.path):\(span.line): \(span.text): \(problems)")
            guard span.text.hasPrefix("--"), let option = span.text.split(whereSeparator: { " =,".contains($0) }).first
            else { continue }
            let isKnown = Self.options.contains(String(option)) || Self.foreignOptions.contains(String(option))
            #expect(isKnown, "\(page.path):\(span.line): no command has the option \(span.text)")
        }
    }

    /// Options of other programs that the pages mention.
    private static let foreignOptions: Set<String> = ["--static-swift-stdlib", "--filter", "--sanitize"]

    @Test(arguments: Repository.pages)
    func `each route that a page names exists`(page: MarkdownPage) throws {
        let interface = try OpenAPI(contentsOf: Repository.root + "/Packaging/openapi.yaml")
        // The topics of a fleet begin like a route, after a name.
        let code = (page.codeSpans.map(\.text) + page.blocks.flatMap(\.lines))
            .map { $0.replacing("backgrounder/v1/", with: "") }
        for match in code.flatMap({ $0.matches(of: /(?:([A-Z]+) )?(?:http:\/\/localhost)?(\/v1\/[\w\/{}-]+)/) }) {
            let path = String(match.2)
            let methods = match.1.map { [String($0)] } ?? ["GET", "POST", "PUT", "PATCH", "DELETE"]
            let isKnown = methods.contains { interface.operation($0, path) != nil }
            #expect(isKnown, "\(page.path): unknown route \(match.0)")
        }
    }

    @Test(arguments: Repository.pages)
    func `each configuration key that a page names exists`(page: MarkdownPage) {
        for span in page.codeSpans {
            guard let match = span.text.wholeMatch(of: /([a-z]+)\.([A-Za-z]+)(?::.*)?/),
                Self.sections.contains(String(match.1)), !Self.fileSuffixes.contains(String(match.2))
            else { continue }
            #expect(Self.keys.contains("\(match.1).\(match.2)"), "\(page.path):\(span.line): \(span.text)")
        }
    }

    private static let fileSuffixes: Set<String> = ["yaml", "md", "swift", "sh", "py", "log", "sock"]

    @Test(arguments: Repository.pages)
    func `each environment variable that a page names exists`(page: MarkdownPage) {
        let known = Set(Keys.all.map(\.environmentName)).union(Self.otherVariables)
        let code = page.codeSpans.map(\.text) + page.blocks.flatMap(\.lines)
        for match in code.flatMap({ $0.matches(of: /BACKGROUNDER_[A-Z_]+/) }) {
            #expect(known.contains(String(match.0)), "\(page.path): \(match.0)")
        }
    }

    /// Variables that correspond to no key: the service's home, and the mark of a task's processes.
    private static let otherVariables: Set<String> = ["BACKGROUNDER_HOME", "BACKGROUNDER_TASK", "BACKGROUNDER_"]

    @Test(arguments: Repository.pages)
    func `each make target that a page names exists`(page: MarkdownPage) throws {
        let targets = Set(try Repository.text("Makefile").matches(of: /(?m)^([a-z0-9-]+):/).map { String($0.1) })
        let code = page.codeSpans.map(\.text) + page.blocks.flatMap(\.lines)
        for match in code.compactMap({ $0.firstMatch(of: /^(?:sudo )?make ((?:[a-z0-9-]+ ?)+)/) }) {
            for target in match.1.split(separator: " ") {
                #expect(targets.contains(String(target)), "\(page.path): make \(target)")
            }
        }
    }

    @Test(arguments: Repository.pages)
    func `each event that a page names exists`(page: MarkdownPage) throws {
        let interface = try OpenAPI(contentsOf: Repository.root + "/Packaging/openapi.yaml")
        let events = try #require(interface.operation("GET", "/v1/events")?.description["x-events"]?.object)
        let prose = page.sections.values.flatMap(\.self).joined(separator: " ")
        let named = prose.matches(of: /events? `(\w+)`/).map(\.1) + prose.matches(of: /`(\w+)` events?\b/).map(\.1)
        let shown = page.blocks.flatMap(\.lines).compactMap { $0.firstMatch(of: /^event: (\w+)/)?.1 }
        for name in named + shown {
            #expect(events[String(name)] != nil, "\(page.path): unknown event \(name)")
        }
    }

    @Test(arguments: Repository.pages)
    func `each file and folder of the service that a page names exists`(page: MarkdownPage) {
        for code in page.codeSpans.map(\.text) + page.blocks.flatMap(\.lines) {
            for match in code.matches(
                of: /(\/etc|\/run|\/var\/lib|\$XDG_\w+|~\/\.[\w\/]+)\/backgrounder\b(?:\/([\w.-]+))?/
            ) {
                #expect(ServiceFiles.folders.contains("\(match.1)/backgrounder"), "\(page.path): \(match.0)")
                let isKnown = match.2.map { ServiceFiles.contains(String($0)) } ?? true
                #expect(isKnown, "\(page.path): the service has no file \(match.0)")
            }
        }
        for span in page.codeSpans {
            let isFile = span.text.wholeMatch(of: /backgrounder\.[\w.-]+|[\w-]+\.(yaml|sock|sqlite|db|lock|log)/) != nil
            let isKnown = ServiceFiles.contains(span.text) || Repository.exists("Packaging/" + span.text)
            #expect(!isFile || isKnown, "\(page.path):\(span.line): the service has no file \(span.text)")
        }
    }

    @Test(arguments: Repository.pages)
    func `each type and module that a page names exists`(page: MarkdownPage) {
        for span in page.codeSpans {
            guard let type = span.text.wholeMatch(of: /[A-Z][A-Za-z]*(?:[a-z][A-Z]|[A-Z][a-z])[A-Za-z]*/)?.0
            else { continue }
            let isKnown = Sources.words.contains(String(type)) || Repository.exists("Tests/\(type)")
            #expect(isKnown, "\(page.path):\(span.line): no source has \(type)")
        }
    }

    @Test(arguments: Repository.pages)
    func `each path of the repository that a page names exists`(page: MarkdownPage) {
        for span in page.codeSpans {
            guard span.text.prefixMatch(of: /(Sources|Tests|Packaging|docs|Benchmarks)\//) != nil,
                !span.text.contains(where: { "*…<".contains($0) })
            else { continue }
            let path = span.text.prefix { !$0.isWhitespace }
            #expect(Repository.exists(String(path)), "\(page.path):\(span.line): \(span.text)")
        }
    }
}

/// The files and folders that the service creates or reads.
private enum ServiceFiles {
    /// The parents of the file in each layout of ``RuntimePaths``, as the pages write them.
    static let folders: Set<String> = {
        let user = ["HOME": "~"]
        let xdg = ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"].map { ($0, "$" + $0) }
        let layouts = [
            RuntimePaths(home: nil, environment: [:], userID: 0),
            RuntimePaths(home: nil, environment: user, userID: 1000),
            RuntimePaths(home: nil, environment: Dictionary(uniqueKeysWithValues: xdg), userID: 1000),
        ]
        return Set(layouts.flatMap { [$0.state, $0.run, String($0.configuration.dropLast("/config.yaml".count))] })
    }()

    private static let names: Set<String> = {
        let paths = RuntimePaths(home: "/home", environment: [:], userID: 0)
        let all = [paths.configuration, paths.database, paths.log, paths.log + ".1", paths.lock, paths.instance]
        return Set((all + paths.sockets).compactMap { $0.split(separator: "/").last.map(String.init) })
    }()

    /// Whether `name` is a file of the service, a file next to its database, a label of its threads and queues, or the
    /// file of secrets that the unit reads. A part in capitals stands for a number or a time.
    static func contains(_ name: String) -> Bool {
        if names.contains(name) || name == "secrets" || Sources.literals.contains(name) { return true }
        guard let match = name.wholeMatch(of: /backgrounder\.sqlite[.-]([a-z-]*[a-z])(?:-[A-Z]+)?/) else {
            return false
        }
        return ["\"", "\"-", "\".", "."].contains { before in
            ["\"", "-"].contains { Sources.text.contains(before + match.1 + $0) }
        }
    }
}

/// The text, words and string literals of the sources.
private enum Sources {
    static let text = Repository.files(below: "Sources").filter { $0.hasSuffix(".swift") }
        .map { (try? Repository.text($0)) ?? "" }.joined(separator: "\n")
    static let words = Set(text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
    /// String literals without spaces and interpolations.
    static let literals = Set(text.matches(of: /"([\w.-]+)"/).map { String($0.1) })
}

extension HelpTree {
    /// This command and all commands below it, including hidden ones.
    fileprivate var all: [HelpTree] { [self] + (subcommands ?? []).flatMap(\.all) }
}
