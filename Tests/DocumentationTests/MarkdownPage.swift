import Foundation
import Testing

/// A Markdown page, split into the parts that name something: fenced blocks, code spans, links and headings.
struct MarkdownPage: CustomTestStringConvertible, Sendable {
    /// A fenced block of code.
    struct Block: Sendable {
        /// The word after the opening fence; empty for none.
        var language: String
        var lines: [String]
        /// The 1-based number of the opening fence's line.
        var line: Int
    }

    /// A part of a line of prose.
    struct Span: Sendable {
        var text: String
        var line: Int
    }

    /// Relative to the top folder of the repository.
    let path: String
    private(set) var blocks: [Block] = []
    /// The contents of `` `…` `` outside of fenced blocks.
    private(set) var codeSpans: [Span] = []
    /// The targets of `[…](…)` outside of fenced blocks.
    private(set) var links: [Span] = []
    /// The fragments that a link to this page can use.
    private(set) var anchors: Set<String> = []
    /// The lines of prose by the heading of level 2 that they follow, without fenced blocks.
    private(set) var sections: [String: [String]] = [:]

    var testDescription: String { path }

    init(path: String, text: String) {
        self.path = path
        var block: Block?
        var section = ""
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).enumerated()
        {
            if line.hasPrefix("```") {
                if let ended = block {
                    blocks.append(ended)
                    block = nil
                } else {
                    block = Block(language: String(line.dropFirst(3)), lines: [], line: index + 1)
                }
            } else if block != nil {
                block?.lines.append(line)
            } else {
                if line.hasPrefix("## ") { section = String(line.dropFirst(3)) }
                if line.hasPrefix("#") { anchors.insert(Self.anchor(of: line)) }
                sections[section, default: []].append(line)
                codeSpans += line.matches(of: /`([^`]+)`/).map { Span(text: String($0.1), line: index + 1) }
                links += line.matches(of: /\]\(([^)\s]+)\)/).map { Span(text: String($0.1), line: index + 1) }
            }
        }
    }

    /// The first cells of the table rows in the section with this heading, without their backquotes.
    func firstColumn(ofTablesIn section: String) -> [String] {
        (sections[section] ?? []).compactMap { line in
            line.firstMatch(of: /^\|\s*`([^`]+)`\s*\|/).map { String($0.1) }
        }
    }

    /// The fragment that GitHub makes of a heading: lower case, spaces as hyphens, no punctuation.
    private static func anchor(of heading: String) -> String {
        let title = heading.drop { $0 == "#" || $0 == " " }.lowercased()
        return String(title.filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" })
            .replacing(" ", with: "-")
    }
}
