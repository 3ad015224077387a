import ArgumentParser
import BackgrounderAPI
import SystemSupport

extension FetchCommand {
    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "run",
            abstract: "Fetch a source now, and print the result.",
            discussion: """
                Ignores the interval of the source. The exit status is 1 if the fetch \
                failed.

                EXAMPLE
                  backgrounder fetch run news
                """
        )
        @OptionGroup var source: SourceArgument
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let run = try await WaitLine.during("\(source.name): fetching") {
                try await reading.client.call(
                    Routes.runFetch,
                    body: FetchRunRequest(),
                    name: source.name,
                    patience: .fetchRun
                )
            }
            try show(run, reading)
        }
    }

    struct Simulate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "simulate",
            abstract: "Simulate a background fetch of a source.",
            discussion: """
                Unlike `fetch run`, this is refused while background refresh is off for the \
                source. The exit status is 1 if the fetch failed. To test a start of the \
                service for one fetch, use `backgrounderd --launch-for-fetch NAME`.

                EXAMPLE
                  backgrounder fetch simulate news
                """
        )
        @OptionGroup var source: SourceArgument
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let run = try await WaitLine.during("\(source.name): fetching") {
                try await reading.client.call(Routes.simulateFetch, name: source.name, patience: .fetchRun)
            }
            try show(run, reading)
        }
    }

    struct FetchLog: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "log",
            abstract: "List the last runs of a source and their results, oldest first.",
            discussion: """
                EXAMPLES
                  backgrounder fetch log news
                  backgrounder fetch log news -n 5
                """
        )
        @OptionGroup var source: SourceArgument
        @Option(
            name: .shortAndLong,
            help: ArgumentHelp("Number of runs, 1 to 500 (default 20).", valueName: "n"),
            transform: runCount
        )
        var number = 20
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let runs = try await reading.client.call(
                Routes.fetchRuns,
                name: source.name,
                query: [("last", String(number))]
            )
            try reading.show(runs) { FetchTable.runs($0, of: source.name) }
        }
    }

    struct Items: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "items",
            abstract: "List the items of a feed, as of the last fetch.",
            discussion: """
                EXAMPLES
                  backgrounder fetch items news
                  backgrounder fetch items news --format json | jq '.[].title'
                """
        )
        @OptionGroup var source: SourceArgument
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let items = try await reading.client.call(Routes.fetchItems, name: source.name)
            try reading.show(items) { FetchTable.items($0) }
        }
    }

    struct Content: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "content",
            abstract: "Print the content of the last fetch, byte for byte.",
            discussion: """
                On a terminal, control characters are replaced. A pipe or a file gets the \
                bytes unchanged.

                EXAMPLES
                  backgrounder fetch content tide
                  backgrounder fetch content tide > tide.json
                """
        )
        @OptionGroup var source: SourceArgument
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            let client = service.client
            let content = try await client.stream(client.path(Routes.fetchContentPath, name: source.name))
            if StandardOutput.isTerminal {
                try Output.write(String(decoding: try await content.collect(), as: UTF8.self).printableLines)
            } else {
                for try await piece in content { try Output.write(bytes: Array(piece)) }
            }
        }
    }
}

extension Duration {
    /// The time limit for the reply to a run: the longest budget of a run, and a margin before and after it.
    fileprivate static let fetchRun = Duration.seconds(60)
}

@Sendable private func runCount(_ text: String) throws -> Int {
    guard let count = Int(text), (1...500).contains(count) else {
        throw ValidationError("\(text.debugDescription) is not a valid number of runs; use 1 to 500")
    }
    return count
}

private func show(_ run: FetchRun, _ reading: ReadingOptions) throws {
    try reading.show(run) { $0.lines.map { "\(run.source): \($0)" }.printable }
    if run.result == .failed { throw CommandFailure("\(run.source): \(run.reason ?? "the fetch failed")") }
}
