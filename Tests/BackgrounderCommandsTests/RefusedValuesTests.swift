import ArgumentParser
import Testing

@testable import BackgrounderCommands

/// Values of options and arguments that are none of those allowed.
struct RefusedValuesTests {
    static let times = "give ISO 8601, now, today, yesterday, or a span before now such as 10m, 2h, 7d"

    @Test(
        arguments: [
            ("track history --since tomorrow", times), ("track map --until tomorrow", times),
            ("track trips --since tomorrow", times), ("track export --until tomorrow", times),
            ("fetch plan --opens f --at soon", times), ("fetch plan --opens f --last soon", times),
            ("fetch plan --opens f --runs many", "give 1 to 288"), ("track history --trip abc", "give a whole number"),
            ("track --last abc", "give 1 to 100"), ("log -n abc", "give a count of lines from 0 on"),
            ("audio interrupt a.wav --priority high", "give a whole number"), ("task end x", "give a whole number"),
            ("task remaining x", "give a whole number"), ("task log x", "give a whole number"),
            ("transfer pause x", "give a whole number"), ("transfer resume x", "give a whole number"),
            ("transfer cancel x", "give a whole number"), ("transfer events s --ack x", "give the SEQ of an event"),
            ("queue remove 1 x", "give a whole number"), ("queue move x 0", "give a whole number"),
            ("queue move 1 x", "give a place in the queue, from 0 on"),
        ]
    )
    func `A value that is refused is answered with what is allowed`(command: String, allowed: String) throws {
        let error = try #require(throws: (any Error).self) {
            _ = try RootCommand.parseAsRoot(command.split(separator: " ").map(String.init))
        }
        let message = RootCommand.message(for: error)
        #expect(RootCommand.exitCode(for: error).rawValue == 64 && message.contains(allowed), "\(message)")
    }
}
