import Testing

@testable import Places

@Suite struct PlaceTemplateTests {
    private static func filled(_ text: String, _ use: PlaceTemplate.Use, _ values: [String: String]) throws -> String {
        try PlaceTemplate(text).filled(use) { values[$0] }
    }

    private static func refusal(_ text: String, _ use: PlaceTemplate.Use, _ values: [String: String])
        -> PlaceTemplate.FillError?
    {
        #expect(throws: PlaceTemplate.FillError.self) { try filled(text, use, values) }
    }

    @Test(
        arguments: [
            ("", ""), ("stop.wav", "stop.wav"), ("{a}", "1"), ("{a}{b}", "1two"), ("x{a}y{b}z", "x1ytwoz"),
            ("{{", "{"), ("}}", "}"), ("{{a}}", "{a}"), ("{{{a}}}", "{1}"), ("{a}}}", "1}"), ("{{{{", "{{"),
            ("{ä ö}", "umlauts"), ("{a}\u{301}", "1\u{301}"), ("é{{\u{301}", "é{\u{301}"),
        ]
    )
    func `placeholders have their values, and doubled braces are braces`(text: String, result: String) throws {
        let values = ["a": "1", "b": "two", "ä ö": "umlauts"]
        #expect(try Self.filled(text, .path, values) == result)
        #expect(try Self.filled(text, .speech, values) == result)
        #expect(try PlaceTemplate(text).description == text)
    }

    @Test(
        arguments: [
            ("{", .unclosed), ("{name", .unclosed), ("{na{me}", .unclosed), ("a {{{", .unclosed),
            ("{name\u{301}", .unclosed),
            ("}", .unopened), ("name}", .unopened), ("{a}}", .unopened), ("}}}", .unopened),
            ("{}", .unnamed), ("{a}{}", .unnamed),
        ] as [(String, PlaceTemplate.SyntaxError)]
    )
    func `braces must match and have a name between them`(text: String, error: PlaceTemplate.SyntaxError) {
        #expect(throws: error) { try PlaceTemplate(text) }
    }

    @Test func `a value is not a template itself`() throws {
        #expect(try Self.filled("{a}", .path, ["a": "{b}", "b": "x"]) == "{b}")
        #expect(try Self.filled("{a}", .speech, ["a": "{{"]) == "{{")
    }

    @Test(
        arguments: [
            "", ".", "..", ".hidden", "a/b", "/", "/etc/passwd", "../a", "a\u{0}", "\n", "a\u{1B}[2J", "a\u{7F}",
            "a\u{85}b", "a\u{2028}b", "a\u{202E}b", "/\u{301}", ".\u{301}a",
        ]
    )
    func `a value that may lead elsewhere cannot be part of a path`(value: String) throws {
        let error = PlaceTemplate.FillError.unsafe(name: "a", value: value)
        for text in ["{a}", "stops/{a}.wav", "x{a}"] {
            #expect(Self.refusal(text, .path, ["a": value]) == error)
            #expect(throws: Never.self) { try Self.filled(text, .speech, ["a": value]) }
        }
    }

    @Test(arguments: ["a.b", "a..", "-rf", "~", "de:1:2", "a b", "é", "\\", "%2F", "$HOME"])
    func `any other value can be part of a path`(value: String) throws {
        #expect(try Self.filled("stops/{a}.wav", .path, ["a": value]) == "stops/\(value).wav")
    }

    @Test func `control characters of a value are spaces in speech`() throws {
        #expect(try Self.filled("To {a}", .speech, ["a": "A\n\u{1B}B\u{FFFD}C"]) == "To A  B C")
    }

    @Test(arguments: [PlaceTemplate.Use.path, .speech])
    func `a placeholder without a value is refused`(use: PlaceTemplate.Use) {
        #expect(Self.refusal("{a}{b}", use, ["a": "1"]) == .unknown("b"))
        #expect(Self.refusal("{A}", use, ["a": "1"]) == .unknown("A"))
        #expect(Self.refusal("{ a }", use, ["a": "1"]) == .unknown(" a "))
    }

    @Test func `the result has at most 65,536 bytes`() throws {
        let values = ["a": String(repeating: "x", count: 32_768)]
        #expect(try Self.filled("{a}{a}", .speech, values).utf8.count == 65_536)
        #expect(Self.refusal("{a}{a}.", .speech, values) == .tooLong)
        #expect(Self.refusal("é{a}{a}", .path, values) == .tooLong)
    }
}
