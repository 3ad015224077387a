import SystemSupport
import Testing

@testable import BackgrounderCommands

@Suite struct CharsetTests {
    @Test(arguments: [
        (["LANG": "de_DE.UTF-8", "TERM": "xterm"], Charset.unicode), (["LANG": "C.utf8", "TERM": "xterm"], .unicode),
        (["LC_CTYPE": "de_DE.UTF-8@euro", "LANG": "C", "TERM": "xterm"], .unicode), (["LANG": "C"], .ascii),
        ([:], .ascii),
        (["LC_ALL": "C", "LANG": "C.UTF-8"], .ascii), (["LC_ALL": "", "LANG": "C.UTF-8"], .unicode),
        (["LANG": "en_GB"], .ascii), (["LANG": "en_US.ISO-8859-1"], .ascii),
        (["LANG": "C.UTF-8", "TERM": "linux"], .ascii), (["LANG": "C.UTF-8", "TERM": "vt220"], .ascii),
    ])
    func `the charset is Unicode in a locale of UTF-8 on a terminal that has the glyphs`(
        environment: [String: String],
        charset: Charset
    ) {
        #expect(Charset(environment: environment) == charset)
    }

    @Test func `a line in ASCII takes the same columns`() {
        let ascii = Charset(environment: [:])
        for (line, shown) in [
            ("┌ Log ─┐", "+ Log -+"), ("│ a… │", "| a~ |"), ("━━──", "==--"), ("›▶ 1. Café", ">* 1. Caf?"),
            ("日本 x", "???? x"), ("👩‍👩‍👧!", "??!"), ("⠁⡀⣿\u{2800}|", "'.: |"), ("plain", "plain"),
        ] {
            #expect(ascii.shown(line) == shown)
            #expect(shown.count == line.terminalColumns)
        }
    }

    @Test(arguments: [
        ("plain", 5), ("日本", 4), ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("e\u{301}", 1), ("\u{301}", 0), ("a\u{200B}b", 2),
        ("\u{FEFF}", 0),
        ("\u{AD}", 1), ("ﾊﾝ", 2), ("한글", 4),
    ])
    func `the columns of a text are those of a terminal`(text: String, columns: Int) {
        #expect(text.terminalColumns == columns)
    }
}
