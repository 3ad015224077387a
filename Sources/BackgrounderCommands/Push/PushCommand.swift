import ArgumentParser
import BackgrounderAPI
import SystemSupport

/// `backgrounder push`: fetches triggered by MQTT messages.
struct PushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Trigger fetches with MQTT messages (silent push).",
        discussion: """
            A message is JSON of at most 4096 bytes. It names a source that was added with \
            `fetch add`, and has an id that the sender chose. It cannot contain a URL or a \
            command:

              {"content-available": 1, "source": "news", "id": "2026-11-21-7"}

            "expires" (seconds since 1970) limits how long the message is valid. The text \
            of "alert" is shown after the fetch. Messages that are duplicate, expired, \
            retained, malformed or too long, or that name an unknown source, are counted \
            and ignored. A source is fetched at most three times an hour this way; beyond \
            that, only the newest message counts. Without a subcommand, runs `push list`.

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
            commandName: "add",
            abstract: "Subscribe to a topic of a broker.",
            discussion: """
                The broker stores messages while this machine is offline (QoS 1, with a \
                persistent session). The command waits briefly for the reply of the broker. If \
                there is none, or the broker refuses, the service keeps trying.

                The file of --credentials has the user on the first line and the password on \
                the second, or USER:PASSWORD on one line. Other users must not be able to read \
                it (chmod 600).

                EXAMPLES
                  backgrounder push add news --mqtt mqtt://localhost --topic home/news
                  backgrounder push add all --mqtt mqtts://broker.example:8883 \\
                    --topic 'home/+/news' --credentials ~/.mqtt
                """
        )
        @Argument(help: ArgumentHelp("Name of your choice.", valueName: "name"))
        var name: String
        @Option(help: ArgumentHelp("Broker: mqtt://host[:port], or mqtts:// for TLS.", valueName: "url"))
        var mqtt: String
        @Option(
            help: ArgumentHelp("Topic filter: + matches one level, a final # all further levels.", valueName: "topic")
        )
        var topic: String
        @Option(
            help: ArgumentHelp("File with user and password for the broker.", valueName: "file"),
            completion: .file()
        )
        var credentials: String?
        @Flag(help: "If a push of that name exists, change nothing and show it.")
        var ifAbsent = false
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
            let client = reading.client
            let add = { try await client.call(Routes.addPush, body: request) }
            let status =
                if ifAbsent {
                    try await client.findOrAdd {
                        try await client.call(Routes.pushes).first { $0.name == name }
                    } _: {
                        try await add()
                    }
                } else {
                    try await add()
                }
            try reading.show(status) { PushTable.line($0) }
            if status.state != .connected, let error = status.lastError {
                Output.note("backgrounder: not connected yet: \(error); the service keeps trying")
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the pushes, their states and their message counts.",
            discussion: """
                EXAMPLES
                  backgrounder push list
                  backgrounder push list --format json
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let pushes = try await reading.client.call(Routes.pushes)
            try reading.show(pushes) { PushTable.render($0) }
        }
    }

    struct Simulate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "simulate",
            abstract: "Handle a message as if it came from the broker.",
            discussion: """
                The message is checked, counted and limited like any other. If it is ignored, \
                the reason goes to stderr and the exit status is 1.

                EXAMPLES
                  backgrounder push simulate news --payload \\
                    '{"content-available":1,"source":"news","id":"1"}'
                """
        )
        @Argument(help: ArgumentHelp("Name of the push.", valueName: "name"), completion: NameCompletion.pushes)
        var name: String
        @Option(help: ArgumentHelp("Message, as JSON.", valueName: "json"))
        var payload: String
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let outcome = try await reading.client.call(
                Routes.simulatePush,
                body: PushSimulation(payload: payload),
                name: name
            )
            if outcome.outcome == .ignored {
                throw CommandFailure("the message was ignored (\(outcome.reason ?? "")): \(outcome.detail ?? "")")
            }
            try reading.show(outcome) { $0.line }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Unsubscribe from a topic.",
            discussion: """
                The broker is asked to discard the messages that it stores for this machine.

                EXAMPLES
                  backgrounder push remove news
                """
        )
        @Argument(help: ArgumentHelp("Name of the push.", valueName: "name"), completion: NameCompletion.pushes)
        var name: String
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            _ = try await service.client.call(Routes.removePush, name: name)
            try Output.print("removed \(name.withoutControlCharacters)")
        }
    }
}

/// A table of pushes.
enum PushTable {
    static func render(_ pushes: [PushStatus]) -> String {
        guard !pushes.isEmpty else { return "No pushes; add one with `backgrounder push add`." }
        var table = Table([
            ("NAME", .left), ("ADDED", .left), ("STATE", .left), ("RECEIVED", .right), ("IGNORED", .left),
            ("BROKER", .left),
            ("TOPIC", .left), ("ERROR", .left),
        ])
        for push in pushes {
            table.add([
                push.name, push.declared ? "in file" : "by command", push.state.rawValue, String(push.received),
                push.ignored.summary, push.url, push.topic,
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
    /// The counts by reason, such as `3 duplicate, 1 expired`; `0` if there are none.
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
        case .started: "\(source): the fetch has started"
        case .waiting:
            at.map { "\(source): the fetch starts at \($0.shown), unless a newer message arrives" }
                ?? "\(source): the fetch starts when the current one is over"
        case .ignored: "ignored: \(detail ?? "")"
        }
    }
}
