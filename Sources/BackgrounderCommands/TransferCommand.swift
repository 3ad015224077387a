import ArgumentParser
import BackgrounderAPI

struct TransferCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfer",
        abstract: "Files that come and go while nobody looks: get, put, list, pause, resume, cancel.",
        discussion: """
            A transfer goes on after a lost network, a killed service and a restart of the machine. A file has its name
            once all of it is there and right, and not before.

            EXAMPLES
              backgrounder transfer get https://example.org/map.bin downloads/
              backgrounder transfer get --wait --sha256 9f86d081… \\
                https://example.org/map.bin downloads/map.bin
              backgrounder transfer put trip.gpx https://example.org/trips/7.gpx
              backgrounder transfer list
              backgrounder transfer events default --ack 3
            """,
        subcommands: [
            Get.self, Put.self, List.self, Pause.self, Resume.self, Cancel.self, Events.self,
        ],
        defaultSubcommand: List.self
    )

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Begin to bring a file; prints the transfer's id.",
            discussion: """
                The folder must be one of transfers.roots or in one of them; http without encryption goes only to hosts of
                transfers.allowHTTP.

                The file of --credentials has lines such as `user = ann`, `password = …`, `bearer = TOKEN` and
                `header = Name: value`. It is read for each attempt, and is sent to the URL's own host alone.

                EXAMPLES
                  backgrounder transfer get https://example.org/map.bin downloads/
                  backgrounder transfer get https://example.org/map.bin downloads/map.bin \\
                    --exists overwrite --wait
                """
        )
        @Argument(help: ArgumentHelp("Where it is: https, or http to hosts that are allowed.", valueName: "url"))
        var url: String
        @Argument(
            help: ArgumentHelp(
                "The file that it becomes, or a folder for a file with the URL's name.",
                valueName: "dest"
            ),
            completion: .file()
        )
        var destination: String
        @Option(help: ArgumentHelp("The 64 hexadecimal digits that it must have.", valueName: "digest"))
        var sha256: String?
        @Option(
            parsing: .unconditional,
            help: ArgumentHelp("The most bytes that it may have, with K, M or G; 8G otherwise.", valueName: "bytes")
        )
        var sizeMax: String?
        @Option(help: "What becomes of a file that is there already: overwrite, fail or rename.")
        var exists = ExistingFile.fail
        @OptionGroup var beginning: BeginningOptions
        @OptionGroup var reading: ReadingOptions

        func validate() throws {
            try requireWebURL(url)
            if destination.isEmpty { throw ValidationError("\"\" is no destination: give a file or a folder") }
            if let sha256, !isDigest(sha256) {
                throw ValidationError("\(sha256.debugDescription) is no SHA-256: give its 64 hexadecimal digits")
            }
            _ = try size
            try beginning.validate()
        }

        private var size: Int64? {
            get throws { try sizeMax.map(parseSize) }
        }

        func run() async throws {
            let path = RuntimePaths.absolute(destination)
            let isFolder = destination.hasSuffix("/") || destination == "." || destination == ".."
            let request = TransferRequest(
                url: url,
                destination: isFolder && path != "/" ? path + "/" : path,
                session: beginning.session,
                sha256: sha256,
                sizeMax: try size,
                exists: exists,
                discretionary: beginning.isDiscretionary,
                credentials: beginning.credentials.map { RuntimePaths.absolute($0) }
            )
            try await begin(request, beginning, reading)
        }
    }

    struct Put: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Begin to send a file with PUT; prints the transfer's id.",
            discussion: """
                EXAMPLES
                  backgrounder transfer put trip.gpx https://example.org/7.gpx --discretionary
                """
        )
        @Argument(
            help: ArgumentHelp("The file; it must not change before it is there.", valueName: "file"),
            completion: .file()
        )
        var file: String
        @Argument(help: ArgumentHelp("What it becomes: https, or http to hosts that are allowed.", valueName: "url"))
        var url: String
        @OptionGroup var beginning: BeginningOptions
        @OptionGroup var reading: ReadingOptions

        func validate() throws {
            try requireWebURL(url)
            if file.isEmpty { throw ValidationError("\"\" is no file") }
            try beginning.validate()
        }

        func run() async throws {
            let request = TransferRequest(
                direction: .put,
                url: url,
                destination: RuntimePaths.absolute(file),
                session: beginning.session,
                discretionary: beginning.isDiscretionary,
                credentials: beginning.credentials.map { RuntimePaths.absolute($0) }
            )
            try await begin(request, beginning, reading)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "All open transfers, and the newest of those that are over.",
            discussion: """
                EXAMPLES
                  backgrounder transfer list --format json
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            try reading.show(try await reading.use { try await $0.call(Routes.transfers) }, transferTable)
        }
    }

    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Pause a transfer.",
            discussion: """
                EXAMPLE
                  backgrounder transfer pause 3
                """
        )
        @Argument(completion: NameCompletion.transfers, transform: parseID) var id: Int
        @OptionGroup var reading: ReadingOptions

        func run() async throws { try await act(Routes.pauseTransfer, id, reading) }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Continue a transfer now, ending a pause or a wait.",
            discussion: """
                EXAMPLE
                  backgrounder transfer resume 3
                """
        )
        @Argument(completion: NameCompletion.transfers, transform: parseID) var id: Int
        @OptionGroup var reading: ReadingOptions

        func run() async throws { try await act(Routes.resumeTransfer, id, reading) }
    }

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Cancel a transfer and remove the part that has arrived.",
            discussion: """
                EXAMPLE
                  backgrounder transfer cancel 3
                """
        )
        @Argument(completion: NameCompletion.transfers, transform: parseID) var id: Int
        @OptionGroup var reading: ReadingOptions

        func run() async throws { try await act(Routes.cancelTransfer, id, reading) }
    }

    struct Events: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "What became of a session's transfers, again and again until it is acknowledged.",
            discussion: """
                Behind the last one comes all-events-delivered.

                EXAMPLES
                  backgrounder transfer events maps
                  backgrounder transfer events maps --ack 3
                """
        )
        @Argument(help: ArgumentHelp("As given to get and put; `default` where none was.", valueName: "session"))
        var session: String
        @Option(
            name: .customLong("ack"),
            help: ArgumentHelp("All events up to this one were seen; prints the others.", valueName: "seq"),
            transform: wholeNumber("the SEQ of an event")
        )
        var acknowledged: Int?
        @OptionGroup var reading: ReadingOptions

        func validate() throws {
            if session.isEmpty { throw ValidationError("\"\" is no session") }
        }

        func run() async throws {
            let events = try await reading.use { client in
                guard let acknowledged else { return try await client.call(Routes.sessionEvents, name: session) }
                let body = Acknowledgement(seq: acknowledged)
                return try await client.call(Routes.acknowledgeEvents, body: body, name: session)
            }
            try reading.show(events) { events in
                guard !events.isEmpty else { return "No events." }
                var table = Table([("SEQ", .right), ("TRANSFER", .right), ("STATE", .left), ("AT", .left)])
                for event in events {
                    table.add([
                        String(event.seq), event.transfer.map { String($0) } ?? "", event.state,
                        ISO8601.string(event.at),
                    ])
                }
                return table.render()
            }
        }
    }
}

/// How a transfer begins.
struct BeginningOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Transfers of one session have their events together.", valueName: "name"))
    var session: String?
    @Flag(help: "Whatever the power and the network are; so it is without either of the two.")
    var now = false
    @Flag(help: "Wait for power and for a network that costs nothing.")
    var discretionary = false
    @Flag(help: "Return when it is over; exit 1 where it failed.")
    var wait = false
    @Option(
        help: ArgumentHelp(
            "Tell the server who asks: a file with user, password, bearer or header, mode 0600.",
            valueName: "file"
        ),
        completion: .file()
    )
    var credentials: String?

    var isDiscretionary: Bool? { discretionary ? true : nil }

    func validate() throws {
        if credentials == "" { throw ValidationError("\"\" is not a file with credentials: give a path") }
        if now, discretionary { throw ValidationError("--now and --discretionary exclude each other") }
        if let session, session.isEmpty || session.utf8.count > 100 || session.contains("/") {
            throw ValidationError("\(session.debugDescription) is no session: give 1 to 100 bytes without slashes")
        }
    }
}

extension ExistingFile: ExpressibleByArgument {}

/// Refuses what is an address of something else than the web.
private func requireWebURL(_ text: String) throws {
    let scheme = text.prefix { $0 != ":" }.lowercased()
    let rest = text.dropFirst(scheme.count)
    guard rest.hasPrefix("://"), scheme == "https" || scheme == "http" else {
        let shown =
            rest.hasPrefix("://")
            ? "URLs of \(scheme.debugDescription) are not taken" : "\(text.debugDescription) is no URL"
        throw ValidationError("\(shown): give one that begins with https://")
    }
    let host = rest.dropFirst(3).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard !host.contains("@") else {
        throw ValidationError(
            "a URL must not have a user or password in it: write them to a file for --credentials FILE"
        )
    }
    guard !host.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
        throw ValidationError("\(text.debugDescription) is no URL: give one such as https://example.org/file")
    }
}

private func isDigest(_ text: String) -> Bool {
    text.utf8.count == 64 && text.allSatisfy { $0.isASCII && $0.isHexDigit }
}

private func parseSize(_ text: String) throws -> Int64 {
    guard let size = ByteCount.bytes(text) else {
        throw ValidationError("\(text.debugDescription) is no size: give bytes from 1 on, such as 500, 20K, 10M or 2G")
    }
    return size
}

private func begin(_ request: TransferRequest, _ options: BeginningOptions, _ reading: ReadingOptions) async throws {
    try await reading.use { client in
        let transfer = try await client.call(Routes.addTransfer, body: request)
        guard options.wait else { return try reading.show(transfer) { String($0.id) } }
        // Whoever is killed while it waits knows the id.
        if reading.format == .table { try Output.print(String(transfer.id)) }
        let last = try await client.wait(for: transfer.id)
        if reading.format == .json { try Output.json(last) }
        guard last.state == .done else {
            throw CommandFailure(
                "transfer \(last.id) \(last.state == .failed ? "failed" : "was cancelled")\(last.error.map { ": \($0)" } ?? "")"
            )
        }
    }
}

private func act(_ route: Route<Empty, Transfer>, _ id: Int, _ reading: ReadingOptions) async throws {
    try reading.show(try await reading.use { try await $0.call(route, id: id) }) { transferTable([$0]) }
}

extension Client {
    /// Returns the transfer when it is over, and shows meanwhile how far it is.
    fileprivate func wait(for id: Int) async throws -> Transfer {
        var progress = ProgressLine()
        defer { progress.end() }
        var last: Transfer?
        try await events(attach: false) { event in
            switch event {
            case .state: last = try await call(Routes.transfer, id: id)
            case .transfer(let transfer) where transfer.id == id: last = transfer
            default: return true
            }
            if let last, !last.state.isOver { progress.show(last.progressLine) }
            return last?.state.isOver != true
        }
        // The event may tell less than what is stored at the end.
        return try await call(Routes.transfer, id: id)
    }
}
