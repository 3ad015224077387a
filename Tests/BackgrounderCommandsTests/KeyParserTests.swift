import Testing

@testable import BackgrounderCommands

@Suite struct KeyParserTests {
    /// Returns the keys of bytes that arrive in one read.
    private func keys(_ text: String) -> [Key] {
        var parser = KeyParser()
        return parser.feed(text.utf8)
    }

    @Test(arguments: [
        ("q", Key.character("q")), ("?", .character("?")), (" ", .character(" ")), ("\r", .enter), ("\n", .enter),
        ("\t", .tab), ("\u{1B}[A", .up), ("\u{1B}[B", .down), ("\u{1B}[C", .right), ("\u{1B}[D", .left),
        ("\u{1B}OA", .up), ("\u{1B}OB", .down), ("\u{1B}OC", .right), ("\u{1B}OD", .left), ("\u{1B}OM", .enter),
        ("\u{1B}[3~", .delete), ("\u{1B}[5~", .pageUp), ("\u{1B}[6~", .pageDown), ("\u{1B}[1;5C", .right),
        ("\u{1B}[3;2~", .delete), ("é", .character("é")), ("日", .character("日")), ("🎵", .character("🎵")),
    ])
    func `a key is recognised in one read, and byte by byte`(text: String, key: Key) {
        #expect(keys(text) == [key])
        var parser = KeyParser()
        var found: [Key] = []
        for byte in text.utf8 { found += parser.feed([byte]) }
        #expect(found == [key])
        #expect(!parser.isWaiting)
    }

    @Test func `a lone Esc is a key if nothing follows`() {
        var parser = KeyParser()
        #expect(parser.feed([0x1B]) == [])
        #expect(parser.isWaiting)
        #expect(parser.flush() == .escape)
        #expect(!parser.isWaiting)
        #expect(parser.flush() == nil)
        #expect(parser.feed([0x1B, 0x1B]) == [.escape])
        #expect(parser.feed(Array("[A".utf8)) == [.up])
    }

    @Test func `an incomplete sequence is dropped if nothing follows, and the next key counts`() {
        for start in ["\u{1B}[", "\u{1B}[1;", "\u{1B}O", "\u{1B}[["] {
            var parser = KeyParser()
            #expect(parser.feed(start.utf8) == [])
            #expect(parser.isWaiting)
            #expect(parser.flush() == nil)
            #expect(parser.feed("n".utf8) == [.character("n")])
        }
    }

    @Test(arguments: [
        "\u{1B}[200~", "\u{1B}[H", "\u{1B}[[A", "\u{1B}OP", "\u{1B}[?1;2c", "\u{1B}x", "\u{1B}[<0;1;1M", "\u{0}",
        "\u{7F}",
        "\u{1B}[\(String(repeating: "1", count: 10_000))A", "\u{1B}[\(String(repeating: ";", count: 10_000))~",
    ])
    func `unknown sequences and control characters are no keys`(text: String) {
        #expect(keys(text + "n") == [.character("n")])
    }

    @Test func `a sequence that another key interrupts is dropped`() {
        #expect(keys("\u{1B}[1\u{1B}[A") == [.up])
        #expect(keys("\u{1B}[1\r") == [.enter])
        #expect(keys("\u{1B}O\u{1B}[B") == [.down])
    }

    @Test func `bytes that are not UTF-8 are skipped`() {
        var parser = KeyParser()
        let broken: [[UInt8]] = [
            [0xFF], [0x80], [0xC0, 0x80], [0xE6, 0x97], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
        ]
        for bytes in broken { #expect(parser.feed(bytes + [UInt8(ascii: "n")]) == [.character("n")], "\(bytes)") }
    }

    @Test func `random bytes leave the parser ready for the next key`() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            var parser = KeyParser()
            _ = parser.feed((0..<40).map { _ in UInt8.random(in: 0...255, using: &generator) })
            _ = parser.flush()
            #expect(parser.feed("n".utf8) == [.character("n")])
        }
    }
}
