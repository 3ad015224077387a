import BackgrounderAPI
import FoundationEssentials
import Testing

@testable import SystemSupport

/// Characters that a terminal would act on instead of printing them.
@Suite struct ControlCharactersTests {
    private static let controls: [Unicode.Scalar] = {
        let values =
            Array(0..<0x20) + Array(0x7F...0x9F) + [0x61C, 0x200E, 0x200F, 0x2028, 0x2029] + Array(0x202A...0x202E)
            + Array(0x2066...0x2069)
        return values.compactMap { Unicode.Scalar(UInt32($0)) }
    }()

    @Test func `each control character becomes one replacement character; other text is unchanged`() {
        for scalar in Self.controls {
            #expect("a\(Character(scalar))b".withoutControlCharacters == "a\u{FFFD}b", "\(scalar.value)")
        }
        #expect("\r\n".withoutControlCharacters == "\u{FFFD}\u{FFFD}")
        for text in ["", "plain", "ünï 日本 👩‍👩‍👧 e\u{301}", "שלום", "±°·│"] {
            #expect(text.withoutControlCharacters == text)
            #expect(text.withEscapedControlCharacters == text)
        }
    }

    @Test func `printable lines keep tabs and line breaks, with CRLF as LF`() {
        #expect("one\r\n\ttwo\u{1B}[2J\n\nthree\r".printableLines == "one\n\ttwo\u{FFFD}[2J\n\nthree\u{FFFD}")
    }

    @Test func `escaped control characters in JSON decode to the original text`() throws {
        let text = String(String.UnicodeScalarView(Self.controls))
        let line = try JSON.line(["key": text]).withEscapedControlCharacters
        #expect(line.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        #expect(line.contains(#"\u007F\u0080"#))
        #expect(line.contains(#"\u202E"#))
        #expect(try JSON.decode([String: String].self, from: Data(line.utf8)) == ["key": text])
    }
}
