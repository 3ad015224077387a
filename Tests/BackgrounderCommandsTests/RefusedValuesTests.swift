import ArgumentParser
import Testing

@testable import BackgrounderCommands

/// Invalid values of options and arguments.
struct RefusedValuesTests {
    static let times = "use ISO 8601, now, today, yesterday, or a span before now such as 10m, 2h, 7d"

    @Test(
        arguments: [
            ("track history --since tomorrow", times), ("track map --until tomorrow", times),
            ("track trips --since tomorrow", times), ("track export --until tomorrow", times),
            ("fetch plan --opens f --at soon", times), ("fetch plan --opens f --last soon", times),
            ("fetch plan --opens f --runs many", "use 1 to 288"), ("track history --trip abc", "use a whole number"),
            ("track --last abc", "use 1 to 100"), ("log -n abc", "use a number of lines from 0"),
            ("audio interrupt a.wav --priority high", "use a number such as 10"), ("task end x", "use a whole number"),
            ("task remaining x", "use a whole number"), ("task log x", "use a whole number"),
            ("transfer pause x", "use a whole number"), ("transfer resume x", "use a whole number"),
            ("transfer cancel x", "use a whole number"), ("transfer events s --ack x", "use the SEQ of an event"),
            ("queue remove 1 x", "use a whole number"), ("queue move x 0", "use a whole number"),
            ("queue move 1 x", "use a position in the queue, from 0"),
        ]
    )
    func `a refused value is answered with the allowed values`(command: String, allowed: String) throws {
        let error = try #require(throws: (any Error).self) {
            _ = try RootCommand.parseAsRoot(command.split(separator: " ").map(String.init))
        }
        let message = RootCommand.message(for: error)
        #expect(RootCommand.exitCode(for: error).rawValue == 64, "\(message)")
        #expect(message.contains(allowed), "\(message)")
    }
}
