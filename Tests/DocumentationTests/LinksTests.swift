import Foundation
import TestSupport
import Testing

/// Links between pages lead to existing files and headings.
@Suite(.computing) struct LinksTests {
    private static let pages = Dictionary(uniqueKeysWithValues: Repository.pages.map { ($0.path, $0) })

    /// Returns the path and the fragment of `link` in `page`; `nil` if the link leads out of the repository.
    private func target(of link: MarkdownPage.Span, in page: MarkdownPage) -> (path: String, fragment: String?)? {
        guard link.text.firstMatch(of: /^[a-z]+:/) == nil else { return nil }
        let parts = link.text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let folder = URL(filePath: "/" + page.path).deletingLastPathComponent()
        let path = folder.appending(path: parts[0]).standardizedFileURL.path.dropFirst()
        return (parts[0].isEmpty ? page.path : String(path), parts.count > 1 ? parts[1] : nil)
    }

    @Test(arguments: Repository.pages)
    func `each relative link leads to an existing file and its fragment to a heading`(page: MarkdownPage) {
        for link in page.links {
            guard let target = target(of: link, in: page) else { continue }
            #expect(Repository.exists(target.path), "\(page.path):\(link.line): \(link.text)")
            guard let fragment = target.fragment, let other = Self.pages[target.path] else { continue }
            #expect(other.anchors.contains(fragment), "\(page.path):\(link.line): \(link.text)")
        }
    }

    @Test func `every page can be reached from the README`() {
        var reached: Set<String> = []
        var waiting = ["README.md"]
        while let path = waiting.popLast() {
            guard reached.insert(path).inserted, let page = Self.pages[path] else { continue }
            waiting += page.links.compactMap { target(of: $0, in: page)?.path }
        }
        let lost = Set(Self.pages.keys).subtracting(reached)
        #expect(lost.isEmpty)
    }
}
