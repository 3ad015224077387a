import ArgumentParser
import BackgrounderAPI
import Glibc
import SystemSupport

extension TrackCommand {
    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Permanently delete a trip or a time range from the history.",
            discussion: """
                Asks for confirmation; without a terminal, pass --yes. If only a part of a trip is deleted, its \
                remaining points form new trips.

                \(HistoryRange.times)

                EXAMPLES
                  backgrounder track delete --trip 3
                  backgrounder track delete --since yesterday --until today --yes
                  backgrounder track delete --until 90d --yes
                """
        )

        @OptionGroup var range: HistoryRange
        @Flag(help: "Do not ask for confirmation.")
        var yes = false
        @OptionGroup var reading: ReadingOptions

        func validate() throws {
            guard !range.isAll else {
                throw ValidationError("cannot delete points without a range; pass --trip, --since or --until")
            }
        }

        func run() async throws {
            let client = reading.client
            if !yes {
                let trial = try await client.call(Routes.deleteHistory, query: range.query + [("trial", "1")])
                guard trial.points > 0 else { return try show(trial) }
                try confirm(trial)
            }
            try show(try await client.call(Routes.deleteHistory, query: range.query))
        }

        private func confirm(_ trial: DeletionReply) throws {
            guard isatty(STDIN_FILENO) == 1 else {
                throw CommandFailure(
                    "cannot delete \(trial.words) without confirmation: stdin is not a terminal; pass --yes",
                    exitCode: 64
                )
            }
            Output.ask("Permanently delete \(trial.words)? [y/N] ")
            guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
                throw CommandFailure("nothing was deleted")
            }
        }

        private func show(_ reply: DeletionReply) throws {
            try reading.show(reply) { $0.points == 0 ? "No points in this range." : "deleted \($0.words)" }
        }
    }
}

extension DeletionReply {
    /// The counts in words, such as `997 points of 2 trips`.
    fileprivate var words: String {
        "\(counted(points, "point")) of \(counted(trips, "trip"))"
    }
}
