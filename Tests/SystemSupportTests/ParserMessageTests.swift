import SystemSupport
import Testing

struct ParserMessageTests {
    @Test(
        arguments: [
            ("Unknown option '--x'. Did you mean '--y'?", "unknown option '--x'; did you mean '--y'?"),
            ("Missing expected argument '<id>'", "missing expected argument '<id>'"),
            (
                "The value 'x' is invalid for '<on>'. Please provide one of the following:\n  - a\n  - b",
                "the value 'x' is invalid for '<on>'; use one of a, b"
            ),
            (
                "The value 'x' is invalid for '<on>'. Please provide one of 'a' and 'b'.",
                "the value 'x' is invalid for '<on>'; use 'a' or 'b'"
            ),
            ("Missing required subcommand.", "missing required subcommand"),
            ("\"Soon.\" is not a valid time; use now", "\"Soon.\" is not a valid time; use now"),
        ]
    )
    func `a message becomes one line in the style of ours`(message: String, line: String) {
        #expect(ParserMessage.line(message) == line)
    }

    @Test func `the page follows a question without a semicolon`() {
        #expect(ParserMessage.line("Unknown option '-x'", see: "a --help") == "unknown option '-x'; see `a --help`")
        let question = ParserMessage.line("Unknown option '--x'. Did you mean '--y'?", see: "a --help")
        #expect(question == "unknown option '--x'; did you mean '--y'? see `a --help`")
    }
}
