import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import BackgrounderDaemon

/// Every key, file and declaration is documented; ``GeneratedPagesTests`` covers commands, routes, events and values.
@Suite(.computing) struct CoverageTests {
    @Test func `docs/configuration.md has exactly one row for every key`() throws {
        let page = try #require(Repository.pages.first { $0.path == "docs/configuration.md" })
        #expect(page.firstColumn(ofTablesIn: "Keys").sorted() == Keys.all.map(\.name).sorted())
    }

    @Test func `docs/configuration.md has a row for every section with declarations, with its keys`() throws {
        let page = try #require(Repository.pages.first { $0.path == "docs/configuration.md" })
        #expect(page.firstColumn(ofTablesIn: "Declarations") == Keys.declared)
        for section in Declarations.Section.allCases {
            let row = try #require(page.sections["Declarations"]?.first { $0.hasPrefix("| `\(section.rawValue)`") })
            for field in section.fields { #expect(row.contains("`\(field)`"), "\(section.rawValue): \(field)") }
        }
    }

    @Test func `docs/configuration.md says which keys a reload applies`() throws {
        let page = try #require(Repository.pages.first { $0.path == "docs/configuration.md" })
        for row in page.sections["Keys"] ?? [] {
            guard let match = row.firstMatch(of: /^\| `([^`]+)` \|[^|]*\| ([^|]*) \|/) else { continue }
            let name = String(match.1)
            let word = Keys.reloadable.contains(name) ? "yes" : Keys.initial.contains(name) ? "first start" : "no"
            #expect(match.2 == word, "\(name)")
        }
    }

    @Test func `docs/files-and-permissions.md names every file of the service`() throws {
        let page = try Repository.text("docs/files-and-permissions.md")
        let paths = RuntimePaths(home: "/home", environment: [:], userID: 0)
        let files = [
            paths.configuration, paths.database, paths.database + "-wal", paths.database + "-shm",
            paths.database + ".version-", paths.log, paths.log + ".1", paths.controlSocket, paths.mpdSocket, paths.lock,
            paths.instance,
        ]
        for file in files {
            let name = file.split(separator: "/").last.map(String.init) ?? ""
            #expect(page.contains(name), "\(name) is not documented")
        }
    }

    @Test func `the README has at most 180 lines`() throws {
        #expect(try Repository.text("README.md").split(separator: "\n", omittingEmptySubsequences: false).count <= 181)
    }

    @Test func `each Markdown page that a file of the repository cites exists`() throws {
        let files =
            ["Sources", "Tests", "Packaging", "Benchmarks"].flatMap(Repository.files)
            .filter { $0.firstMatch(of: /\.(swift|h|c|py|sh|yaml|service)$/) != nil } + ["Makefile", "Package.swift"]
        #expect(files.count > 500)
        for file in files {
            for match in try Repository.text(file).matches(of: /[\w\/-]+\.md\b/) {
                let name = String(match.0)
                let isKnown = Repository.exists(name) || (file.hasPrefix("Tests/DocumentationTests/"))
                #expect(isKnown, "\(file) cites \(name)")
            }
        }
    }

    @Test func `every package type, protocol, function and initializer in the sources has a doc comment`() throws {
        let declaration =
            /^\s*(?:@\w+(?:\([^)]*\))?\s+)*package\s+(?:\w+\s+)*?(?:struct|class|enum|actor|protocol|typealias|func|init|subscript)\b/
        var count = 0
        for file in Repository.files(below: "Sources") where file.hasSuffix(".swift") {
            let lines = try Repository.text(file).split(separator: "\n", omittingEmptySubsequences: false)
            for (index, line) in lines.enumerated() where line.firstMatch(of: declaration) != nil {
                count += 1
                let before = lines[..<index].last { $0.firstMatch(of: /^\s*[@#]/) == nil } ?? ""
                let isDocumented = before.firstMatch(of: /^\s*\/\/\//) != nil
                #expect(isDocumented, "\(file):\(index + 1): \(line)")
            }
        }
        #expect(count > 800)
    }
}
