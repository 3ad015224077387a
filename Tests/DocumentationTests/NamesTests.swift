import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import BackgrounderDaemon

/// Every command, option, route, configuration key, variable, target and file that a page names exists.
struct NamesTests {
    private static let keys = Set(Keys.all.map(\.name))
    private static let sections = Set(keys.compactMap { $0.contains(".") ? String($0.prefix { $0 != "." }) : nil })
    private static let options = Set((HelpTree.client.all + HelpTree.daemon.all).flatMap(\.options))

    @Test(arguments: Repository.pages)
    func `each call of a program in a block of code has an existing command and existing options`(page: MarkdownPage) {
        for block in page.blocks where ["sh", "", "console"].contains(block.language) {
            let joined = block.lines.joined(separator: "\n").replacing("\\\n", with: " ")
            for line in joined.split(separator: "\n") {
                let problems = Invocation(String(line))?.problems ?? []
                #expect(problems.isEmpty, "\(page.path):\(block.line): \(line)")
            }
        }
    }

    @Test(arguments: Repository.pages)
    func `each code span that names a command or an option names an existing one`(page: MarkdownPage) {
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
    func `each route exists`(page: MarkdownPage) throws {
        let interface = try OpenAPI(contentsOf: Repository.root + "/Packaging/openapi.yaml")
        let code = page.codeSpans.map(\.text) + page.blocks.flatMap(\.lines)
        for match in code.flatMap({ $0.matches(of: /(?:([A-Z]+) )?(?:http:\/\/localhost)?(\/v1\/[\w\/{}-]+)/) }) {
            let path = String(match.2)
            let methods = match.1.map { [String($0)] } ?? ["GET", "POST", "PATCH", "DELETE"]
            let isKnown = methods.contains { interface.operation($0, path) != nil }
            #expect(isKnown, "\(page.path): there is no route \(match.0)")
        }
    }

    @Test(arguments: Repository.pages)
    func `each configuration key exists`(page: MarkdownPage) {
        for span in page.codeSpans {
            guard let match = span.text.wholeMatch(of: /([a-z]+)\.([A-Za-z]+)(?::.*)?/),
                Self.sections.contains(String(match.1)), !Self.fileSuffixes.contains(String(match.2))
            else { continue }
            #expect(Self.keys.contains("\(match.1).\(match.2)"), "\(page.path):\(span.line): \(span.text)")
        }
    }

    private static let fileSuffixes: Set<String> = ["yaml", "md", "swift", "sh", "py", "log", "sock"]

    @Test(arguments: Repository.pages)
    func `each variable of the environment exists`(page: MarkdownPage) {
        let known = Set(Keys.all.map(\.environmentName)).union(Self.otherVariables)
        let code = page.codeSpans.map(\.text) + page.blocks.flatMap(\.lines)
        for match in code.flatMap({ $0.matches(of: /BACKGROUNDER_[A-Z_]+/) }) {
            #expect(known.contains(String(match.0)), "\(page.path): \(match.0)")
        }
    }

    /// Variables that stand for no key: where the service lies, and the mark of a task's processes.
    private static let otherVariables: Set<String> = ["BACKGROUNDER_HOME", "BACKGROUNDER_TASK", "BACKGROUNDER_"]

    @Test(arguments: Repository.pages)
    func `each target of make exists`(page: MarkdownPage) throws {
        let targets = Set(try Repository.text("Makefile").matches(of: /(?m)^([a-z-]+):/).map { String($0.1) })
        let code = page.codeSpans.map(\.text) + page.blocks.flatMap(\.lines)
        for match in code.compactMap({ $0.firstMatch(of: /^(?:sudo )?make ((?:[a-z-]+ ?)+)/) }) {
            for target in match.1.split(separator: " ") {
                #expect(targets.contains(String(target)), "\(page.path): make \(target)")
            }
        }
    }

    @Test(arguments: Repository.pages)
    func `each path of the repository exists`(page: MarkdownPage) {
        for span in page.codeSpans {
            guard span.text.prefixMatch(of: /(Sources|Tests|Packaging|docs|Benchmarks)\//) != nil,
                !span.text.contains(where: { "*…<".contains($0) })
            else { continue }
            let path = span.text.prefix { !$0.isWhitespace }
            #expect(Repository.exists(String(path)), "\(page.path):\(span.line): \(span.text)")
        }
    }
}

extension HelpTree {
    /// This command and all below it, hidden ones included.
    fileprivate var all: [HelpTree] { [self] + (subcommands ?? []).flatMap(\.all) }
}
