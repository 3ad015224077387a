import ArgumentParser
import BackgrounderAPI

extension FetchCommand {
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a source.",
            discussion: """
                A command runs in this directory by /bin/sh; it says by its exit status
                whether there is something new: 0 new data, 3 none, all else failed. What it
                prints is the content.

                The file of --credentials has lines such as `user = ann`, `password = …`,
                `bearer = TOKEN` and `header = Name: value`. It is read at each fetch, must
                have the mode 0600, and is sent to the URL's own host alone.

                EXAMPLES
                  backgrounder fetch add news --url https://example.com/rss --interval minimum
                  backgrounder fetch add podcast --url https://example.com/rss --interval 6h \\
                    --download ~/podcasts
                  backgrounder fetch add mail --url https://example.com/inbox \\
                    --credentials ~/.config/mail.credentials
                  backgrounder fetch add map --url https://example.com/map.png --kind raw
                  backgrounder fetch add disk --exec 'df -h /' --interval 15m --budget 5s
                """
        )
        @Argument(help: "A name of your choice: letters, digits, - . and _.")
        var name: String
        @Option(help: ArgumentHelp("Fetch from here, http or https.", valueName: "url"))
        var url: String?
        @Option(help: ArgumentHelp("Run this in a shell.", valueName: "command"))
        var exec: String?
        @Option(help: .interval, transform: parseInterval)
        var interval: FetchInterval = .never
        @Option(
            help: "What the content is: a feed (RSS, Atom, JSON Feed) or just bytes; feed for --url, raw for --exec."
        )
        var kind: FetchKind?
        @Option(help: .budget, transform: parseBudget)
        var budget = FetchDefinition.longestBudget
        @Option(
            help: ArgumentHelp(
                "Bring the files that belong to new items of a feed into this folder.",
                valueName: "dir"
            ),
            completion: .directory
        )
        var download: String?
        @Option(
            help: ArgumentHelp(
                "Tell the server who asks: a file with user, password, bearer or header.",
                valueName: "file"
            ),
            completion: .file()
        )
        var credentials: String?
        @OptionGroup var reading: ReadingOptions

        private var definition: FetchDefinition {
            FetchDefinition(
                name: name,
                url: url,
                command: exec.map { ["/bin/sh", "-c", $0] },
                kind: kind,
                interval: interval,
                budget: budget,
                download: download.map { RuntimePaths.absolute($0) },
                directory: exec == nil ? nil : RuntimePaths.absolute("."),
                credentials: credentials.map { RuntimePaths.absolute($0) }
            )
        }

        func validate() throws {
            switch (url, exec) {
            case (nil, nil): throw ValidationError("a source needs --url or --exec")
            case (_?, _?): throw ValidationError("a source has --url or --exec, not both")
            case (_, ""?): throw ValidationError("the command of --exec is empty")
            case _ where credentials == "": throw ValidationError("\"\" is not a file with credentials: give a path")
            case _ where download == "": throw ValidationError("\"\" is no folder to download into: give a path")
            default: if let problem = definition.problem { throw ValidationError(problem) }
            }
        }

        func run() async throws {
            let (source, modes) = try await reading.use { client in
                let source = try await client.call(Routes.addFetchSource, body: definition)
                return (source, try await client.call(Routes.status).modes)
            }
            try reading.show(source) { $0.lines.printable }
            if interval != .never, !modes.contains(.fetch) {
                Output.note("fetch is not in modes: it runs by itself only while somebody is attached")
            }
        }
    }
}

extension FetchKind: ExpressibleByArgument {}
