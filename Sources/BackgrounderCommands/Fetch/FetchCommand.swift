import ArgumentParser
import BackgrounderAPI
import SystemSupport

struct FetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Fetch feeds, web files and command output in the background.",
        discussion: """
            The interval of a source says when it is fetched: never, at most once in a \
            given time, or minimum. With minimum, the service learns when you open the \
            source, and fetches it shortly before. No time is guaranteed, so do not use \
            this for anything urgent. Without a subcommand, runs `fetch list`.

            EXAMPLES
              backgrounder fetch add news --url https://example.com/rss --interval minimum
              backgrounder fetch add tide --exec 'curl -s example.com/tide' --interval 1h
              backgrounder fetch run news               # now; prints the result
              backgrounder fetch content tide > tide.json
              backgrounder fetch show news              # next run, and why
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
            commandName: "list",
            abstract: "List the sources.",
            discussion: """
                EXAMPLES
                  backgrounder fetch list
                  backgrounder fetch list --format json
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let sources = try await reading.client.call(Routes.fetchSources)
            try reading.show(sources) { FetchTable.sources($0) }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show a source, its next run, and the reason for that time.",
            discussion: """
                EXAMPLE
                  backgrounder fetch show news
                """
        )
        @OptionGroup var source: SourceArgument
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let value = try await reading.client.call(Routes.fetchSource, name: source.name)
            try reading.show(value) { $0.lines.printable }
        }
    }

    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Change the interval or the time limit of a source.",
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
                throw ValidationError("nothing to set; pass --interval or --budget")
            }
        }

        func run() async throws {
            let body = FetchSourceChange(interval: interval, budget: budget)
            let value = try await reading.client.call(Routes.changeFetchSource, body: body, name: source.name)
            try reading.show(value) { $0.lines.printable }
        }
    }

    struct Open: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "open",
            abstract: "Record that you are opening a source now.",
            discussion: """
                Marks all its items as seen. With the interval minimum, the service learns from \
                these times when to fetch. A source that was suspended with `backgrounder quit` \
                runs again.

                EXAMPLE
                  backgrounder fetch open news
                """
        )
        @OptionGroup var source: SourceArgument
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let value = try await reading.client.call(Routes.openFetch, name: source.name)
            try reading.show(value) { $0.lines.printable }
        }
    }

    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear",
            abstract: "Discard the content of a source.",
            discussion: """
                The next fetch is treated like the first one.

                EXAMPLE
                  backgrounder fetch clear news
                """
        )
        @OptionGroup var source: SourceArgument
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let value = try await reading.client.call(Routes.clearFetch, name: source.name)
            try reading.show(value) { $0.lines.printable }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove a source and its stored content.",
            discussion: """
                A source that the configuration file declares is removed from there.

                EXAMPLE
                  backgrounder fetch remove news
                """
        )
        @OptionGroup var source: SourceArgument
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            _ = try await reading.client.call(Routes.removeFetchSource, name: source.name)
            try reading.confirm("removed \(source.name)")
        }
    }
}

/// The argument that names a source.
struct SourceArgument: ParsableArguments {
    @Argument(help: "Name of the source.", completion: NameCompletion.sources)
    var name: String
}

extension ArgumentHelp {
    static let interval = ArgumentHelp(
        "never, minimum (the service decides), or the least time between two fetches.",
        valueName: "never|minimum|duration"
    )
    static let budget = ArgumentHelp("Time limit for a run, at most 30s.", valueName: "duration")
}

/// Parses the value of `--interval`.
@Sendable func parseInterval(_ text: String) throws -> FetchInterval {
    let word = text.lowercased()
    guard let interval = FetchInterval(["never", "minimum"].contains(word) ? word : text) else {
        throw ValidationError(
            "\(text.debugDescription) is not a valid interval; use never, minimum, or a duration such as 15m"
        )
    }
    if let problem = interval.problem { throw ValidationError("\(text): \(problem)") }
    return interval
}

/// Parses the value of `--budget`, in seconds.
@Sendable func parseBudget(_ text: String) throws -> Double {
    guard let budget = Durations.duration(text)?.seconds else {
        throw ValidationError("\(text.debugDescription) is not a valid duration; use one such as 20s")
    }
    if let problem = FetchDefinition.problem(ofBudget: budget) { throw ValidationError("\(text): \(problem)") }
    return budget
}
