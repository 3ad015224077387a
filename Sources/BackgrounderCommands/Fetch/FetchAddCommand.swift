import ArgumentParser
import BackgrounderAPI
import SystemSupport

extension FetchCommand {
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add a source.",
            discussion: """
                The command of --exec runs in the current directory with /bin/sh. Its output is \
                the content, and its exit status the result: 0 for new data, 3 for no new \
                data, anything else for a failure.

                Unencrypted http is allowed only for the hosts in transfers.allowHTTP, and without \
                --credentials for this machine.

                The file of --credentials has lines such as `user = ann`, `password = …`, \
                `bearer = TOKEN` and `header = Name: value`, and the mode 0600. It is read for \
                each fetch and sent only to the URL's origin (scheme, host and port).

                EXAMPLES
                  backgrounder fetch add news --url https://example.com/rss --interval minimum
                  backgrounder fetch add podcast --url https://example.com/rss --interval 6h \\
                    --download ~/podcasts
                  backgrounder fetch add mail --url https://example.com/inbox \\
                    --credentials ~/.config/mail.credentials
                  backgrounder fetch add map --url https://example.com/map.png --kind raw
                  backgrounder fetch add disk --exec 'df -h /' --interval 15m --budget 5s
                  backgrounder fetch add news --url https://example.com/rss --if-absent
                """
        )
        @Argument(help: "Name of your choice: letters, digits, - . and _.")
        var name: String
        @Option(help: ArgumentHelp("URL to fetch: https, or http for allowed hosts.", valueName: "url"))
        var url: String?
        @Option(help: ArgumentHelp("Run this shell command.", valueName: "command"))
        var exec: String?
        @Option(help: .interval, transform: parseInterval)
        var interval: FetchInterval = .never
        @Option(
            help:
                "Kind of content: a feed (RSS, Atom, JSON Feed), or raw bytes (default feed for --url, raw for --exec)."
        )
        var kind: FetchKind?
        @Option(help: .budget, transform: parseBudget)
        var budget = FetchDefinition.longestBudget
        @Option(
            help: ArgumentHelp(
                "Download the enclosures of new feed items to this folder.",
                valueName: "dir"
            ),
            completion: .directory
        )
        var download: String?
        @Option(
            help: ArgumentHelp(
                "File with user, password, bearer token or header for the server.",
                valueName: "file"
            ),
            completion: .file()
        )
        var credentials: String?
        @Flag(help: "If a source of that name exists, change nothing and show it.")
        var ifAbsent = false
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
            case (nil, nil): throw ValidationError("a source needs --url or --exec; pass one of them")
            case (_?, _?): throw ValidationError("a source has --url or --exec, not both; pass one of them")
            case (_, ""?): throw ValidationError("the command of --exec is empty; pass a shell command")
            case _ where credentials == "":
                throw ValidationError("the file name of --credentials is empty; pass a path")
            case _ where download == "": throw ValidationError("the folder of --download is empty; pass a path")
            default: if let problem = definition.problem { throw ValidationError(problem) }
            }
        }

        func run() async throws {
            let client = reading.client
            let add = { try await client.call(Routes.addFetchSource, body: definition) }
            let source =
                if ifAbsent {
                    try await client.findOrAdd {
                        try await client.call(Routes.fetchSources).first { $0.name == name }
                    } _: {
                        try await add()
                    }
                } else {
                    try await add()
                }
            // The source is added, so a failure now must not look like one of adding it.
            let modes = (try? await client.call(Routes.status))?.modes
            try reading.show(source) { $0.lines.printable }
            if interval != .never, let modes, !modes.contains(.fetch) {
                Output.note(
                    "fetch is not in modes, so this source is fetched automatically only while a client is attached"
                )
            }
        }
    }
}

extension FetchKind: FixedWord {}
