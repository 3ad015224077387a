import ArgumentParser
import Testing

@testable import BackgrounderCommands

/// The lines for arguments that cannot be parsed.
struct RejectedArgumentsTests {
    private func line(_ command: String) throws -> String {
        let arguments = command.split(separator: " ").map(String.init)
        let error = try #require(throws: (any Error).self) { _ = try RootCommand.parseAsRoot(arguments) }
        #expect(RootCommand.exitCode(for: error).rawValue == 64)
        return RejectedArguments(arguments).line(for: RootCommand.message(for: error))
    }

    @Test(
        arguments: [
            ("statsu", "status", "status"), ("statsu --format json", "status", "status"),
            ("STATUS", "status", "status"), ("loc", "location", "location status"),
            ("track tirps", "trips", "track trips"), ("track tirps --since 1h", "trips", "track trips"),
            ("track --last 5 tirps", "trips", "track trips"), ("audio puase now", "pause", "audio pause"),
            ("trips", "track trips", "track trips"), ("fetch trips", "track trips", "track trips"),
            ("ad", "", ""), ("fetch ad", "add", "fetch add"),
        ]
    )
    func `an unknown command is answered with the one that was probably meant`(
        command: String,
        name: String,
        words: String
    ) throws {
        let word = try #require(command.split(separator: " ").first { Self.wrong.contains($0) })
        let expected =
            name.isEmpty
            ? "unknown command \(word); see `backgrounder --help`"
            : "unknown command \(word); did you mean \(name)? see `backgrounder \(words) --help`"
        #expect(try line(command) == expected)
    }

    private static let wrong: Set<Substring> = ["statsu", "STATUS", "loc", "tirps", "puase", "trips", "ad"]

    @Test(
        arguments: [
            ("dance", "unknown command dance; see `backgrounder --help`"),
            ("audio dance", "unknown command dance; see `backgrounder audio --help`"),
            ("list", "unknown command list; see `backgrounder --help`"),
            ("status now", "unexpected argument now; see `backgrounder status --help`"),
            (
                "status --foramt json",
                "unknown option '--foramt'; did you mean '--format'? see `backgrounder status --help`"
            ),
            (
                "status --format xml",
                "the value 'xml' is invalid for '--format <format>'; use 'table' or 'json'; see `backgrounder status --help`"
            ),
            ("track --last", "missing value for '--last <n>'; see `backgrounder track show --help`"),
        ]
    )
    func `a line has one sign between its parts and names the page of the command`(command: String, expected: String)
        throws
    {
        #expect(try line(command) == expected)
    }
}
