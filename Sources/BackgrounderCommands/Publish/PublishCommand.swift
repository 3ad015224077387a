import ArgumentParser
import BackgrounderAPI
import SystemSupport

/// `backgrounder publish`: the points of this machine on their way to brokers and web servers.
struct PublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Publish the points of this machine to a broker (MQTT) or a web server.",
        discussion: """
            The history is the queue: every point is sent, oldest first, for as long as \
            store.retention keeps it. The messages are OwnTracks JSON. Beside them, a broker \
            receives the newest position at most once a second, and knows whether the machine \
            is online. Without a subcommand, runs `publish list`.

            EXAMPLES
              backgrounder publish add office --mqtt mqtts://broker.example \\
                --machine bus12 --credentials ~/.mqtt
              backgrounder publish list
              backgrounder publish rewind office 2026-11-20
              backgrounder publish remove office
            """,
        subcommands: [Add.self, List.self, Show.self, Pause.self, Resume.self, Rewind.self, Remove.self],
        defaultSubcommand: List.self
    )
}

extension PublishCommand {
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Publish to a broker or a web server.",
            discussion: """
                Without --since, publishing begins with the next point. The topic of the points \
                is owntracks/fleet/ID, or the one of --owntracks.

                With --mqtt, backgrounder/v1/ID/live has the newest position, and \
                backgrounder/v1/ID/state is online or offline. The file of --credentials has the \
                user on the first line and the password on the second, or USER:PASSWORD on one \
                line. Other users must not be able to read it (chmod 600). The same is true of \
                the file of --key.

                With --mqtt, the machine obeys commands of `backgrounder fleet` to its id and \
                its groups.

                With --http, each point is posted to the URL, in the format of OwnTracks' HTTP \
                mode, and nothing else; --group, --home-assistant, --certificate and --key need --mqtt. \
                The file of --credentials is the same as for `fetch add`.

                EXAMPLES
                  backgrounder publish add office --mqtt mqtt://localhost --machine bus12
                  backgrounder publish add home --mqtt mqtts://broker.example --machine boat \\
                    --owntracks ann/boat --home-assistant --since 2026-11-01
                  backgrounder publish add recorder --http https://recorder.example/pub \\
                    --machine boat --credentials ~/.recorder
                """
        )
        @Argument(help: ArgumentHelp("Name of your choice.", valueName: "name"))
        var name: String
        @Option(help: ArgumentHelp("Broker: mqtt://host[:port], or mqtts:// for TLS.", valueName: "url"))
        var mqtt: String?
        @Option(help: ArgumentHelp("Web server: the URL that each point is posted to.", valueName: "url"))
        var http: String?
        @Option(help: ArgumentHelp("Id of this machine: 1 to 64 of a-z, 0-9, _ and -.", valueName: "id"))
        var machine: String
        @Option(help: ArgumentHelp("User and device of OwnTracks (default: fleet/ID).", valueName: "user/device"))
        var owntracks: String?
        @Flag(help: "Announce the machine to Home Assistant.")
        var homeAssistant = false
        @Option(help: ArgumentHelp("Obey commands to this group; may be repeated.", valueName: "name"))
        var group: [String] = []
        @Option(
            help: ArgumentHelp("File with user and password.", valueName: "file"),
            completion: .file()
        )
        var credentials: String?
        @Option(help: ArgumentHelp("Certificate of this machine, in PEM.", valueName: "file"), completion: .file())
        var certificate: String?
        @Option(help: ArgumentHelp("Key of the certificate.", valueName: "file"), completion: .file())
        var key: String?
        @Option(
            help: ArgumentHelp("Also send the points since this time.", valueName: "time"),
            transform: PointInTime.parse
        )
        var since: PointInTime?
        @OptionGroup var reading: ReadingOptions

        private var request: PublisherRequest {
            PublisherRequest(
                name: name,
                url: mqtt ?? http ?? "",
                machine: machine,
                owntracks: owntracks,
                homeAssistant: homeAssistant,
                groups: group.isEmpty ? nil : group,
                credentials: credentials.map { RuntimePaths.absolute($0) },
                certificate: certificate.map { RuntimePaths.absolute($0) },
                key: key.map { RuntimePaths.absolute($0) },
                since: since?.date
            )
        }

        func validate() throws {
            guard (mqtt == nil) != (http == nil) else {
                throw ValidationError("use either --mqtt URL or --http URL")
            }
            if let mqtt {
                do { _ = try BrokerAddress(mqtt) } catch { throw ValidationError(error.description) }
            }
            if let http, let problem = FetchAddress.problem(of: http) { throw ValidationError(problem) }
            if let problem = request.problem { throw ValidationError(problem) }
        }

        func run() async throws {
            try reading.show(try await reading.client.call(Routes.addPublisher, body: request)) { $0.line }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the publishers, their states and their backlogs.",
            discussion: """
                EXAMPLES
                  backgrounder publish list
                  backgrounder publish list --format json
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            try reading.show(try await reading.client.call(Routes.publishers)) { PublisherTable.render($0) }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show one publisher.",
            discussion: """
                EXAMPLES
                  backgrounder publish show office
                """
        )
        @OptionGroup var choice: PublisherChoice
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let status = try await reading.client.call(Routes.publisher, name: choice.name)
            try reading.show(status) { PublisherTable.details($0) }
        }
    }

    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pause",
            abstract: "Stop publishing; the points wait in the history.",
            discussion: """
                EXAMPLES
                  backgrounder publish pause office
                """
        )
        @OptionGroup var choice: PublisherChoice
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let status = try await reading.client.call(Routes.pausePublisher, name: choice.name)
            try reading.show(status) { $0.line }
        }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resume",
            abstract: "Continue to publish.",
            discussion: """
                EXAMPLES
                  backgrounder publish resume office
                """
        )
        @OptionGroup var choice: PublisherChoice
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let status = try await reading.client.call(Routes.resumePublisher, name: choice.name)
            try reading.show(status) { $0.line }
        }
    }

    struct Rewind: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rewind",
            abstract: "Send all points since a time again.",
            discussion: """
                This repairs a broker that lost points which it had acknowledged. A time in the \
                future skips the backlog.

                EXAMPLES
                  backgrounder publish rewind office 2026-11-20
                  backgrounder publish rewind office 2026-11-20T06:00:00Z
                """
        )
        @OptionGroup var choice: PublisherChoice
        @Argument(help: ArgumentHelp("Time of the first point.", valueName: "time"), transform: PointInTime.parse)
        var time: PointInTime
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let body = PublisherRewind(to: time.date)
            let status = try await reading.client.call(Routes.rewindPublisher, body: body, name: choice.name)
            try reading.show(status) { $0.line }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove a publisher.",
            discussion: """
                If the broker can be reached, this also deletes its retained messages of this \
                machine: state, newest position, status document and the device for Home Assistant.

                EXAMPLES
                  backgrounder publish remove office
                """
        )
        @OptionGroup var choice: PublisherChoice
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            _ = try await service.client.call(Routes.removePublisher, name: choice.name)
            try Output.print("removed \(choice.name.withoutControlCharacters)")
        }
    }
}

/// The publisher that a command is about.
struct PublisherChoice: ParsableArguments {
    @Argument(
        help: ArgumentHelp("Name of the publisher.", valueName: "name"),
        completion: NameCompletion.publishers
    )
    var name: String
}

/// Publishers as text.
enum PublisherTable {
    static func render(_ publishers: [PublisherStatus]) -> String {
        guard !publishers.isEmpty else { return "No publishers; add one with `backgrounder publish add`." }
        var table = Table([
            ("NAME", .left), ("ADDED", .left), ("STATE", .left), ("BACKLOG", .right), ("SENT", .right),
            ("DROPPED", .right), ("MACHINE", .left), ("TO", .left), ("WHY", .left),
        ])
        for publisher in publishers {
            table.add([
                publisher.name, publisher.declared ? "in file" : "by command", publisher.state.rawValue,
                String(publisher.backlog), String(publisher.acknowledged), String(publisher.dropped),
                publisher.machine, publisher.url, publisher.why ?? "",
            ])
        }
        return table.render()
    }

    static func details(_ publisher: PublisherStatus) -> String {
        let lines = [
            publisher.line, "topic: \(publisher.topic)",
            publisher.groups.map { "groups: \($0.joined(separator: ", "))" },
            "published: \(publisher.published), acknowledged: \(publisher.acknowledged), dropped: \(publisher.dropped)",
            publisher.lastAcknowledged.map { "last acknowledged: \($0.shown)" },
            publisher.live.map { "last position: \($0.shown)" },
        ]
        return lines.compactMap(\.self).map(\.withoutControlCharacters).joined(separator: "\n")
    }
}

extension PublisherStatus {
    /// `office: connected, backlog 12, 0.9 points/s, mqtts://broker.example:8883 as bus12`.
    var line: String {
        let parts = [
            "\(name): \(state.rawValue)\(why.map { " (\($0))" } ?? "")", "backlog \(backlog)", shownRate,
            "\(url) as \(machine)",
        ]
        return parts.compactMap(\.self).joined(separator: ", ").withoutControlCharacters
    }
}
