import ArgumentParser
import BackgrounderAPI
import Glibc

extension TrackCommand {
    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete points of the history for good: of a trip, or of a time.",
            discussion: """
                It asks for confirmation; without a terminal, give --yes. The remaining points of a trip become trips of their own.
                \(HistoryRange.times)

                EXAMPLES
                  backgrounder track delete --trip 3
                  backgrounder track delete --since yesterday --until today --yes
                  backgrounder track delete --until 90d --yes
                """
        )

        @OptionGroup var range: HistoryRange
        @Flag(help: "Do not ask.")
        var yes = false
        @OptionGroup var reading: ReadingOptions

        func validate() throws {
            guard !range.isAll else {
                throw ValidationError("nothing says which points to delete: give --trip, --since or --until")
            }
        }

        func run() async throws {
            try await reading.use { client in
                if !yes {
                    let trial = try await client.call(Routes.deleteHistory, query: range.query + [("trial", "1")])
                    guard trial.points > 0 else { return try show(trial) }
                    try confirm(trial)
                }
                try show(try await client.call(Routes.deleteHistory, query: range.query))
            }
        }

        private func confirm(_ trial: DeletionReply) throws {
            guard isatty(STDIN_FILENO) == 1 else {
                throw CommandFailure(
                    "deleting \(trial.words) needs a confirmation, and stdin is not a terminal; give --yes",
                    exitCode: 64
                )
            }
            Output.ask("Delete \(trial.words) for good? [y/N] ")
            guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
                throw CommandFailure("nothing was deleted")
            }
        }

        private func show(_ reply: DeletionReply) throws {
            try reading.show(reply) { $0.points == 0 ? "No points in this time." : "Deleted \($0.words)." }
        }
    }
}

extension DeletionReply {
    /// `997 points of 2 trips`
    fileprivate var words: String {
        "\(counted(points, "point")) of \(counted(trips, "trip"))"
    }
}
