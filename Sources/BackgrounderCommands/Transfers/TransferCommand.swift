import ArgumentParser
import BackgrounderAPI
import SystemSupport

struct TransferCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfer",
        abstract: "Download and upload files in the background.",
        discussion: """
            A transfer continues after a loss of the network, a crash of the service and a \
            reboot. A downloaded file gets its name only when it is complete and verified. \
            Without a subcommand, runs `transfer list`.

            EXAMPLES
              backgrounder transfer get https://example.org/map.bin downloads/
              backgrounder transfer get --wait --sha256 9f86d081… \\
                https://example.org/map.bin downloads/map.bin
              backgrounder transfer put trip.gpx https://example.org/trips/7.gpx
              backgrounder transfer list
              backgrounder transfer events default --ack 3
            """,
        subcommands: [
            Get.self, Put.self, List.self, Pause.self, Resume.self, Cancel.self, Clear.self, Sessions.self, Events.self,
        ],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the open and the newest ended transfers.",
            discussion: """
                EXAMPLES
                  backgrounder transfer list --format json
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            try reading.show(try await reading.client.call(Routes.transfers), transferTable)
        }
    }

    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pause",
            abstract: "Pause a transfer.",
            discussion: """
                EXAMPLE
                  backgrounder transfer pause 3
                """
        )
        @Argument(help: "Id of the transfer.", completion: NameCompletion.transfers, transform: parseID) var id: Int
        @OptionGroup var reading: ReadingOptions

        func run() async throws { try await act(Routes.pauseTransfer, id, reading) }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resume",
            abstract: "Resume a transfer now, ending a pause or a wait.",
            discussion: """
                EXAMPLE
                  backgrounder transfer resume 3
                """
        )
        @Argument(help: "Id of the transfer.", completion: NameCompletion.transfers, transform: parseID) var id: Int
        @OptionGroup var reading: ReadingOptions

        func run() async throws { try await act(Routes.resumeTransfer, id, reading) }
    }

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "cancel",
            abstract: "Cancel a transfer, and delete what has arrived.",
            discussion: """
                EXAMPLE
                  backgrounder transfer cancel 3
                """
        )
        @Argument(help: "Id of the transfer.", completion: NameCompletion.transfers, transform: parseID) var id: Int
        @OptionGroup var reading: ReadingOptions

        func run() async throws { try await act(Routes.cancelTransfer, id, reading) }
    }

    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear",
            abstract: "Remove the ended transfers from the list.",
            discussion: """
                Files that were downloaded stay, and so do the events of sessions. Open \
                transfers continue.

                EXAMPLE
                  backgrounder transfer clear
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let reply = try await reading.client.call(Routes.clearTransfers)
            try reading.show(reply) { "removed \(counted($0.removed, "transfer"))" }
        }
    }

    struct Sessions: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sessions",
            abstract: "List the sessions, their open transfers and their events.",
            discussion: """
                A session exists from its first transfer on, or because the configuration file \
                declares it, with defaults for its transfers.

                EXAMPLE
                  backgrounder transfer sessions
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            try reading.show(try await reading.client.call(Routes.sessions), sessionTable)
        }
    }

    struct Events: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "events",
            abstract: "List a session's events; each is repeated until acknowledged.",
            discussion: """
                When all transfers of the session are over, the last event is \
                all-events-delivered.

                EXAMPLES
                  backgrounder transfer events maps
                  backgrounder transfer events maps --ack 3
                """
        )
        @Argument(help: ArgumentHelp("Name of the session; `default` for transfers without one.", valueName: "session"))
        var session: String
        @Option(
            name: .customLong("ack"),
            help: ArgumentHelp("Acknowledge the events up to this SEQ, and list the others.", valueName: "seq"),
            transform: wholeNumber("the SEQ of an event")
        )
        var acknowledged: Int?
        @OptionGroup var reading: ReadingOptions

        func validate() throws {
            if session.isEmpty { throw ValidationError("the session is empty; name a session, or `default`") }
        }

        func run() async throws {
            let client = reading.client
            let events =
                if let acknowledged {
                    try await client.call(
                        Routes.acknowledgeEvents,
                        body: Acknowledgement(seq: acknowledged),
                        name: session
                    )
                } else {
                    try await client.call(Routes.sessionEvents, name: session)
                }
            try reading.show(events) { events in
                guard !events.isEmpty else { return "No events." }
                var table = Table([("SEQ", .right), ("TRANSFER", .right), ("STATE", .left), ("AT", .time)])
                for event in events {
                    table.add([
                        String(event.seq), event.transfer.map { String($0) } ?? "", event.state,
                        event.at.shown,
                    ])
                }
                return table.render()
            }
        }
    }
}

private func act(_ route: Route<Empty, Transfer>, _ id: Int, _ reading: ReadingOptions) async throws {
    try reading.show(try await reading.client.call(route, id: id)) { transferTable([$0]) }
}
