import SystemSupport
import Testing

@testable import MPDServer

@Suite struct CommandLineTests {
    @Test(
        arguments: [
            ("ping", ["ping"]),
            ("play  12 \t", ["play", "12"]),
            (#"add "a b.mp3" 3"#, ["add", "a b.mp3", "3"]),
            (#"find title "say \"no\" \\ \x""#, ["find", "title", #"say "no" \ x"#]),
            (#"add """#, ["add", ""]),
            ("add a\u{0}b", ["add", "a"]),
            ("add Grüße/ö.mp3", ["add", "Grüße/ö.mp3"]),
        ]
    )
    func `a line is a command and arguments, separated by blanks or quoted`(line: String, parts: [String]) throws {
        let parsed = try MPDCommandLine(line)
        #expect([parsed.name] + parsed.arguments == parts)
    }

    @Test(
        arguments: [
            ("", "ACK [5@0] {} No command given"),
            ("  ", "ACK [5@0] {} No command given"),
            ("1st", "ACK [5@0] {} Letter expected"),
            (#""ping""#, "ACK [5@0] {} Letter expected"),
            ("pi-ng", "ACK [5@0] {} Invalid word character"),
            (#"play "1"#, #"ACK [5@0] {} Missing closing '"'"#),
            (#"play "1\""#, #"ACK [5@0] {} Missing closing '"'"#),
            (#"play "1"2"#, #"ACK [5@0] {} Space expected after closing '"'"#),
            ("play '1'", "ACK [5@0] {} Invalid unquoted character"),
            (#"play a"b"#, "ACK [5@0] {} Invalid unquoted character"),
            ("find" + String(repeating: " a", count: 70), "ACK [2@0] {} Too many arguments"),
        ]
    )
    func `an invalid line is refused with MPD's error message`(line: String, answer: String) throws {
        let error = try #require(throws: MPDError.self) { try MPDCommandLine(line) }
        #expect(error.line(command: "x", index: 0) == answer + "\n")
    }

    @Test func `a number is read as strtol reads it, within its bounds`() throws {
        #expect(try MPDNumber.integer(" +5", in: MPDNumber.unsigned) == 5)
        #expect(try MPDNumber.integer("-7", in: MPDNumber.signed) == -7)
        for (text, problem) in [
            ("x", "Integer expected: x"), ("", "Integer expected: "), ("-", "Integer expected: -"),
            ("5.5", "Integer expected: 5.5"), ("-1", "Number too large: -1"),
            ("99999999999999999999", "Number too large: 99999999999999999999"),
            ("2147483648", "Number too large: 2147483648"),
        ] {
            let error = try #require(throws: MPDError.self) { try MPDNumber.integer(text, in: MPDNumber.unsigned) }
            #expect(error.text == problem)
        }
    }

    @Test(
        arguments: [("2", 2, 3), ("1:3", 1, 3), ("1:", 1, nil), ("-1", 0, nil), ("2:2", 2, 2)] as [(String, Int, Int?)]
    )
    func `a range is START:END, START:, a position, or -1 for all`(text: String, start: Int, end: Int?) throws {
        #expect(try MPDRange(text) == MPDRange(start: start, end: end))
    }

    @Test func `an invalid range is refused, as is one that starts after the end of the queue`() throws {
        for (text, problem) in [
            ("x", "Integer or range expected: x"), ("0:x", "Integer or range expected: 0:x"),
            ("2:1", "Malformed range: 2:1"), ("-2", "Number too large: -2"), (":1", "Integer or range expected: :1"),
        ] {
            let error = try #require(throws: MPDError.self) { try MPDRange(text) }
            #expect(error.text == problem)
        }
        #expect(try MPDRange("1:99").clipped(to: 3) == 1..<3)
        #expect(try MPDRange("3").clipped(to: 3) == 3..<3)
        #expect(throws: MPDError.badSongIndex) { try MPDRange("4:").clipped(to: 3) }
    }

    @Test(
        arguments: [
            ("127.0.0.1:6600", "127.0.0.1", 6600, true), ("[::1]:6600", "::1", 6600, true),
            ("localhost:1", "localhost", 1, true), ("127.9.9.9:6600", "127.9.9.9", 6600, true),
            ("0.0.0.0:6600", "0.0.0.0", 6600, false), ("[::]:65535", "::", 65_535, false),
            ("127.0.0.1.example:6600", "127.0.0.1.example", 6600, false), ("bus:6600", "bus", 6600, false),
        ]
    )
    func `a listen address is a host and a port`(text: String, host: String, port: Int, isLoopback: Bool) throws {
        let address = try #require(ListenAddress(text))
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.isLoopback == isLoopback)
        #expect(address.description == text)
    }

    @Test(
        arguments: [
            "", "6600", ":6600", "bus:", "bus:0", "bus:65536", "::1:6600", "[::1]", "[::1]6600", "a b:1", "[bus]:1",
        ]
    )
    func `an invalid listen address is rejected`(text: String) {
        #expect(ListenAddress(text) == nil)
    }
}
