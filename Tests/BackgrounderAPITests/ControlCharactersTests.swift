import FoundationEssentials
import Testing

@testable import BackgrounderAPI

/// What a terminal would obey.
@Suite struct ControlCharactersTests {
    private static let controls: [Unicode.Scalar] = {
        let values =
            Array(0..<0x20) + Array(0x7F...0x9F) + [0x61C, 0x200E, 0x200F, 0x2028, 0x2029] + Array(0x202A...0x202E)
            + Array(0x2066...0x2069)
        return values.compactMap { Unicode.Scalar(UInt32($0)) }
    }()

    @Test func `It is replaced, each by one character, and the rest stays as it is`() {
        for scalar in Self.controls {
            #expect("a\(Character(scalar))b".withoutControlCharacters == "a\u{FFFD}b", "\(scalar.value)")
        }
        #expect("\r\n".withoutControlCharacters == "\u{FFFD}\u{FFFD}")
        for text in ["", "plain", "ünï 日本 👩‍👩‍👧 e\u{301}", "שלום", "±°·│"] {
            #expect(text.withoutControlCharacters == text)
            #expect(text.withEscapedControlCharacters == text)
        }
    }

    @Test func `Text of lines keeps its lines and tabs, whichever way they end`() {
        #expect("one\r\n\ttwo\u{1B}[2J\n\nthree\r".printableLines == "one\n\ttwo\u{FFFD}[2J\n\nthree\u{FFFD}")
    }

    @Test func `JSON has it escaped, and is read as what it was`() throws {
        let text = String(String.UnicodeScalarView(Self.controls))
        let line = try JSON.line(["key": text]).withEscapedControlCharacters
        #expect(line.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        #expect(line.contains(#"\u007F\u0080"#) && line.contains(#"\u202E"#))
        #expect(try JSON.decode([String: String].self, from: Data(line.utf8)) == ["key": text])
    }
}
