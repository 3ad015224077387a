import ArgumentParser
import BackgrounderAPI
import SystemSupport

extension TransferCommand {
    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "get",
            abstract: "Start a download, and print its id.",
            discussion: """
                The destination must be in one of the folders of transfers.roots. Unencrypted \
                http is allowed only for the hosts in transfers.allowHTTP.

                The file of --credentials has lines such as `user = ann`, `password = …`, \
                `bearer = TOKEN` and `header = Name: value`, and the mode 0600. It is read for \
                each attempt and sent only to the URL's origin (scheme, host and port).

                EXAMPLES
                  backgrounder transfer get https://example.org/map.bin downloads/
                  backgrounder transfer get https://example.org/map.bin downloads/map.bin \\
                    --exists overwrite --wait
                """
        )
        @Argument(help: ArgumentHelp("URL to download: https, or http for allowed hosts.", valueName: "url"))
        var url: String
        @Argument(
            help: ArgumentHelp(
                "File to write, or a folder; the file name is then that of the URL.",
                valueName: "dest"
            ),
            completion: .file()
        )
        var destination: String
        @Option(help: ArgumentHelp("Expected SHA-256 digest, 64 hexadecimal digits.", valueName: "digest"))
        var sha256: String?
        @Option(
            parsing: .unconditional,
            help: ArgumentHelp("Largest size to accept, in bytes or with K, M or G (default 8G).", valueName: "bytes")
        )
        var sizeMax: String?
        @Option(help: "What to do if the file already exists (default fail, or that of the session).")
        var exists: ExistingFile?
        @OptionGroup var beginning: BeginningOptions
        @OptionGroup var reading: ReadingOptions

        func validate() throws {
            try requireWebURL(url)
            if destination.isEmpty { throw ValidationError("the destination is empty; name a file or a folder") }
            if let sha256, !isDigest(sha256) {
                throw ValidationError("\(sha256.debugDescription) is not a SHA-256 digest; use 64 hexadecimal digits")
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
            commandName: "put",
            abstract: "Start an upload with HTTP PUT, and print its id.",
            discussion: """
                EXAMPLES
                  backgrounder transfer put trip.gpx https://example.org/7.gpx --discretionary
                """
        )
        @Argument(
            help: ArgumentHelp("File to upload; it must not change before the upload is over.", valueName: "file"),
            completion: .file()
        )
        var file: String
        @Argument(help: ArgumentHelp("URL to upload to: https, or http for allowed hosts.", valueName: "url"))
        var url: String
        @OptionGroup var beginning: BeginningOptions
        @OptionGroup var reading: ReadingOptions

        func validate() throws {
            try requireWebURL(url)
            if file.isEmpty { throw ValidationError("the file name is empty; name a file") }
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
}

/// The options that `get` and `put` share.
struct BeginningOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Session that collects the events of this transfer.", valueName: "name"))
    var session: String?
    @Flag(help: "Start immediately, regardless of power and network (the default).")
    var now = false
    @Flag(help: "Wait for power, an unmetered network and an idle machine.")
    var discretionary = false
    @Flag(help: "Wait until it is over; exit with 1 if it failed.")
    var wait = false
    @Option(
        help: ArgumentHelp(
            "With --wait: wait at most this long; exit with 1 if it is not over. It continues.",
            valueName: "duration"
        ),
        transform: parseTimeout
    )
    var timeout: Duration?
    @Option(
        help: ArgumentHelp(
            "File with user, password, bearer token or header for the server.",
            valueName: "file"
        ),
        completion: .file()
    )
    var credentials: String?

    /// `nil` if the session decides.
    var isDiscretionary: Bool? { discretionary ? true : now ? false : nil }

    func validate() throws {
        if credentials == "" { throw ValidationError("the file name of --credentials is empty; pass a path") }
        if now, discretionary {
            throw ValidationError("--now and --discretionary exclude each other; pass one of them")
        }
        if timeout != nil, !wait { throw ValidationError("--timeout has an effect only with --wait; pass --wait too") }
        if let session, session.isEmpty || session.utf8.count > 100 || session.contains("/") {
            throw ValidationError(
                "\(session.debugDescription) is not a valid session; use 1 to 100 bytes without slashes"
            )
        }
    }
}

extension ExistingFile: FixedWord {}

/// Rejects anything but an http or https URL with a host and without credentials.
private func requireWebURL(_ text: String) throws {
    let scheme = text.prefix { $0 != ":" }.lowercased()
    let rest = text.dropFirst(scheme.count)
    guard rest.hasPrefix("://"), scheme == "https" || scheme == "http" else {
        let shown =
            rest.hasPrefix("://")
            ? "\(scheme.debugDescription) URLs are not supported" : "\(text.debugDescription) is not a valid URL"
        throw ValidationError("\(shown); use one that begins with https://")
    }
    let host = rest.dropFirst(3).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard !host.contains("@") else {
        throw ValidationError(
            "the URL contains a user or a password; put them into a file and pass --credentials FILE"
        )
    }
    guard !host.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
        throw ValidationError("\(text.debugDescription) is not a valid URL; use one such as https://example.org/file")
    }
}

private func isDigest(_ text: String) -> Bool {
    text.utf8.count == 64 && text.allSatisfy { $0.isASCII && $0.isHexDigit }
}

private func parseSize(_ text: String) throws -> Int64 {
    guard let size = ByteCount.bytes(text) else {
        throw ValidationError(
            "\(text.debugDescription) is not a valid size; use 1 byte or more, such as 500, 20K, 10M or 2G"
        )
    }
    return size
}

@Sendable private func parseTimeout(_ text: String) throws -> Duration {
    guard let duration = Durations.duration(text), duration > .zero else {
        throw ValidationError("\(text.debugDescription) is not a valid timeout; use one such as 30s, 15m or 2h")
    }
    return duration
}

private func begin(_ request: TransferRequest, _ options: BeginningOptions, _ reading: ReadingOptions) async throws {
    let client = reading.client
    let transfer = try await client.call(Routes.addTransfer, body: request)
    guard options.wait else { return try reading.show(transfer) { String($0.id) } }
    // Print the id first, so that a caller has it even if this process is killed while it waits.
    if reading.format == .table { try Output.print(String(transfer.id)) }
    let last = try await client.wait(for: transfer.id, within: options.timeout)
    if reading.format == .json { try Output.json(last) }
    let reason = last.error.map { ": \($0)" } ?? ""
    switch last.state {
    case .done: return
    case .failed: throw CommandFailure("transfer \(last.id) failed\(reason)")
    case .cancelled: throw CommandFailure("transfer \(last.id) was cancelled\(reason)")
    case .queued, .waiting, .running, .verifying, .moving, .paused:
        let time = options.timeout.map { " after \(Durations.text($0))" } ?? ""
        throw CommandFailure(
            "transfer \(last.id) is not over\(time), and continues; `backgrounder transfer list` shows its progress"
        )
    }
}

extension Client {
    /// Waits until the transfer is over, showing its progress, and returns it.
    ///
    /// - Parameter patience: The longest wait; after it, the transfer is returned as it is then.
    fileprivate func wait(for id: Int, within patience: Duration?) async throws -> Transfer {
        var progress = ProgressLine()
        defer { progress.end() }
        var last: Transfer?
        let begun = ContinuousClock.now
        do {
            try await events(attach: false, patience: patience) { event in
                switch event {
                case .state: last = try await call(Routes.transfer, id: id)
                case .transfer(let transfer) where transfer.id == id: last = transfer
                default: return true
                }
                if let last, !last.state.isOver { progress.show(last.progressLine) }
                return last?.state.isOver != true
            }
        } catch let failure as CommandFailure where failure.kind == .late {
            // Otherwise the service hangs.
            guard let patience, ContinuousClock.now - begun >= patience else { throw failure }
        }
        // The event may hold less than the record that is stored at the end.
        return try await call(Routes.transfer, id: id)
    }
}
