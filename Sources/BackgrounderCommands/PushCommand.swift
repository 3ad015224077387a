import ArgumentParser
import BackgrounderAPI

/// `backgrounder push`: silent push.
struct PushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Messages of an MQTT broker that make sources be fetched, at once and without a word.",
        discussion: """
            A message is JSON of at most 4096 bytes. It names a source that is configured
            here, and its sender's id for the message; it can hold no URL and no command:

              {"content-available": 1, "source": "news", "id": "2026-11-21-7"}

            With "expires" (seconds since 1970) it counts until then; with "alert" its text
            is shown after the fetch. What comes again, too late, retained, or with a source
            that is not known here leads to nothing and is counted. A source is fetched at
            most three times an hour this way; of more messages the newest counts.

            EXAMPLES
              backgrounder push add news --mqtt mqtts://broker.example --topic home/news \\
                --credentials ~/.mqtt
              backgrounder push list
              backgrounder push simulate news --payload \\
                '{"content-available":1,"source":"news","id":"1"}'
              backgrounder push remove news
            """,
        subcommands: [Add.self, List.self, Simulate.self, Remove.self],
        defaultSubcommand: List.self
    )
}

extension PushCommand {
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Listen to a topic of a broker, and begin at once.",
            discussion: """
                The broker keeps what comes while this machine is away (QoS 1, a session of
                its own). The command waits a moment for the broker's first word; where there
                is none, or a bad one, the service goes on trying.

                The file of --credentials has the user on its first line and the password on
                the second (or USER:PASSWORD on one); nobody else may read it (chmod 600).

                EXAMPLES
                  backgrounder push add news --mqtt mqtt://localhost --topic home/news
                  backgrounder push add all --mqtt mqtts://broker.example:8883 \\
                    --topic 'home/+/news' --credentials ~/.mqtt
                """
        )
        @Argument(help: ArgumentHelp("A name for it.", valueName: "name"))
        var name: String
        @Option(help: ArgumentHelp("mqtt://host[:port], or mqtts:// for TLS.", valueName: "url"))
        var mqtt: String
        @Option(help: ArgumentHelp("A topic; + stands for one level, # for all at the end.", valueName: "topic"))
        var topic: String
        @Option(
            help: ArgumentHelp("A file with user and password that nobody else may read.", valueName: "file"),
            completion: .file()
        )
        var credentials: String?
        @OptionGroup var reading: ReadingOptions

        private var request: PushRequest {
            PushRequest(
                name: name,
                url: mqtt,
                topic: topic,
                credentials: credentials.map { RuntimePaths.absolute($0) }
            )
        }

        func validate() throws {
            if let problem = request.problem { throw ValidationError(problem) }
        }

        func run() async throws {
            let status = try await reading.use { try await $0.call(Routes.addPush, body: request) }
            try reading.show(status) { PushTable.line($0) }
            if status.state != .connected, let error = status.lastError {
                Output.note("backgrounder: not connected yet: \(error); the service goes on trying")
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "What is listened to, and what came.",
            discussion: """
                EXAMPLES
                  backgrounder push list
                  backgrounder push list --format json
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let pushes = try await reading.use { try await $0.call(Routes.pushes) }
            try reading.show(pushes) { PushTable.render($0) }
        }
    }

    struct Simulate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take a message as if it had come from the broker.",
            discussion: """
                It is judged, counted and limited as any other. Exit code 1 says that it is
                ignored, and stderr why.

                EXAMPLES
                  backgrounder push simulate news --payload \\
                    '{"content-available":1,"source":"news","id":"1"}'
                """
        )
        @Argument(help: ArgumentHelp("The name of a push.", valueName: "name"), completion: NameCompletion.pushes)
        var name: String
        @Option(help: ArgumentHelp("The message.", valueName: "json"))
        var payload: String
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let outcome = try await reading.use { client in
                try await client.call(Routes.simulatePush, body: PushSimulation(payload: payload), name: name)
            }
            if outcome.outcome == .ignored {
                throw CommandFailure("the message is ignored (\(outcome.reason ?? "")): \(outcome.detail ?? "")")
            }
            try reading.show(outcome) { $0.line }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Listen no longer; the broker is asked to keep nothing for it.",
            discussion: """
                EXAMPLES
                  backgrounder push remove news
                """
        )
        @Argument(help: ArgumentHelp("The name of a push.", valueName: "name"), completion: NameCompletion.pushes)
        var name: String
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            _ = try await Client.use(service.paths) { try await $0.call(Routes.removePush, name: name) }
        }
    }
}

/// Pushes as a table, a line each.
enum PushTable {
    static func render(_ pushes: [PushStatus]) -> String {
        guard !pushes.isEmpty else { return "No pushes. `backgrounder push add` makes one." }
        var table = Table([
            ("NAME", .left), ("STATE", .left), ("RECEIVED", .right), ("IGNORED", .left), ("BROKER", .left),
            ("TOPIC", .left), ("ERROR", .left),
        ])
        for push in pushes {
            table.add([
                push.name, push.state.rawValue, String(push.received), push.ignored.summary, push.url, push.topic,
                push.lastError ?? "",
            ])
        }
        return table.render()
    }

    static func line(_ push: PushStatus) -> String {
        "\(push.name): \(push.state.rawValue), \(push.url), topic \(push.topic)".withoutControlCharacters
    }
}

extension PushIgnored {
    /// `3 duplicate, 1 expired`, or `0`.
    fileprivate var summary: String {
        let counts = [
            (retained, "retained"), (duplicate, "duplicate"), (expired, "expired"), (oversize, "oversize"),
            (malformed, "malformed"), (unknown, "unknown"),
        ]
        let words = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return words.isEmpty ? "0" : words.joined(separator: ", ")
    }
}

extension PushOutcome {
    fileprivate var line: String {
        let source = (source ?? "").withoutControlCharacters
        return switch outcome {
        case .started: "\(source): the fetch has begun"
        case .waiting:
            at.map { "\(source): the fetch begins at \(ISO8601.string($0)), if no newer message comes" }
                ?? "\(source): the fetch begins when the one that is under way is over"
        case .ignored: "ignored: \(detail ?? "")"
        }
    }
}
