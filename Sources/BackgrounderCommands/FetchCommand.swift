import ArgumentParser
import BackgrounderAPI

struct FetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "What is fetched in the background: feeds, files of the web, what commands print.",
        discussion: """
            A source runs never, when the service thinks it best (minimum: it learns
            when you look, and fetches just before), or at most once in an interval.
            No time is guaranteed: this is not for what is urgent.

            EXAMPLES
              backgrounder fetch add news --url https://example.com/rss --interval minimum
              backgrounder fetch add tide --exec 'curl -s example.com/tide' --interval 1h
              backgrounder fetch run news               # now, and tells how it went
              backgrounder fetch content tide > tide.json
              backgrounder fetch show news              # when next, and why
              backgrounder fetch plan
            """,
        subcommands: [
            List.self, Add.self, Change.self, Show.self, Plan.self, FetchLog.self, Items.self, Content.self, Open.self,
            Run.self, Simulate.self, Clear.self, Remove.self,
        ],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "All sources.",
            discussion: """
                EXAMPLES
                  backgrounder fetch list
                  backgrounder fetch list --format json
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let sources = try await reading.use { try await $0.call(Routes.fetchSources) }
            try reading.show(sources) { FetchTable.sources($0) }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "One source: when it runs next, and why then.",
            discussion: """
                EXAMPLE
                  backgrounder fetch show news
                """
        )
        @OptionGroup var source: SourceArgument
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let value = try await reading.use { try await $0.call(Routes.fetchSource, name: source.name) }
            try reading.show(value) { $0.lines.printable }
        }
    }

    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Change how often a source is fetched, and how long it may take.",
            discussion: """
                EXAMPLES
                  backgrounder fetch set news --interval 1h
                  backgrounder fetch set tide --interval minimum --budget 10s
                """
        )
        @OptionGroup var source: SourceArgument
        @Option(help: .interval, transform: parseInterval)
        var interval: FetchInterval?
        @Option(help: .budget, transform: parseBudget)
        var budget: Double?
        @OptionGroup var reading: ReadingOptions

        func validate() throws {
            if interval == nil, budget == nil {
                throw ValidationError("nothing to set: give --interval or --budget")
            }
        }

        func run() async throws {
            let body = FetchSourceChange(interval: interval, budget: budget)
            let value = try await reading.use { client in
                try await client.call(Routes.changeFetchSource, body: body, name: source.name)
            }
            try reading.show(value) { $0.lines.printable }
        }
    }

    struct Open: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say that you look at a source now: nothing of it is unseen, and the plan learns.",
            discussion: """
                EXAMPLE
                  backgrounder fetch open news
                """
        )
        @OptionGroup var source: SourceArgument
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let value = try await reading.use { try await $0.call(Routes.openFetch, name: source.name) }
            try reading.show(value) { $0.lines.printable }
        }
    }

    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Forget what a source gave; the next fetch is as its first.",
            discussion: """
                EXAMPLE
                  backgrounder fetch clear news
                """
        )
        @OptionGroup var source: SourceArgument
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let value = try await reading.use { try await $0.call(Routes.clearFetch, name: source.name) }
            try reading.show(value) { $0.lines.printable }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a source with all that it gave.",
            discussion: """
                EXAMPLE
                  backgrounder fetch remove news
                """
        )
        @OptionGroup var source: SourceArgument
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            _ = try await reading.use { try await $0.call(Routes.removeFetchSource, name: source.name) }
        }
    }
}

/// The source that a command is about.
struct SourceArgument: ParsableArguments {
    @Argument(help: "The name of the source.", completion: NameCompletion.sources)
    var name: String
}

extension ArgumentHelp {
    static let interval = ArgumentHelp(
        "never, minimum (the service decides), or a duration: never sooner than that after the last fetch.",
        valueName: "never|minimum|duration"
    )
    static let budget = ArgumentHelp("What a run may take, at most 30s.", valueName: "duration")
}

@Sendable func parseInterval(_ text: String) throws -> FetchInterval {
    guard let interval = FetchInterval(text) else {
        throw ValidationError("\(text.debugDescription) is no interval: give never, minimum, or a duration such as 15m")
    }
    if let problem = interval.problem { throw ValidationError("\(text): \(problem)") }
    return interval
}

@Sendable func parseBudget(_ text: String) throws -> Double {
    guard let budget = Durations.duration(text)?.seconds else {
        throw ValidationError("\(text.debugDescription) is no duration: give seconds, or such as 20s")
    }
    if let problem = FetchDefinition.problem(ofBudget: budget) { throw ValidationError("\(text): \(problem)") }
    return budget
}
