import Foundation
import TestSupport
import Testing

/// The parts of the docs generated from the help and from `Packaging/openapi.yaml` are up to date.
///
/// `make docs` writes them: it runs this suite with `UPDATE_DOCS=1`.
@Suite(.computing) struct GeneratedPagesTests {
    private static let marker =
        "<!-- Everything below is generated: `make docs` after a change of the help or of openapi.yaml. -->\n"

    private func check(_ path: String, _ generated: String) throws {
        let page = try Repository.text(path)
        let end = try #require(page.range(of: Self.marker)?.upperBound, "\(path) has no marker")
        let expected = page[..<end] + "\n" + generated
        if ProcessInfo.processInfo.environment["UPDATE_DOCS"] == "1" {
            try expected.write(toFile: Repository.root + "/" + path, atomically: true, encoding: .utf8)
        } else {
            let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
            let difference = expected.split(separator: "\n", omittingEmptySubsequences: false).difference(from: lines)
            #expect(difference.isEmpty, "\(path) is out of date: run `make docs`: \(difference.prefix(6))")
        }
    }

    @Test func `docs/commands.md lists every command with its options and examples`() throws {
        try check("docs/commands.md", CommandReference.markdown())
    }

    @Test func `docs/api.md lists every route, event and value`() throws {
        try check("docs/api.md", APIReference().markdown())
    }
}
