import BackgroundTransfers
package import BackgrounderAPI
import ControlServer
import ServiceLifecycle
import SystemSupport
import WebSupport

/// The transfers as a part of the service.
struct TransfersPart: DaemonPart {
    private let session: TransferSession
    private let endings = TransferEndings()
    /// Whether a group may use the socket, since the start.
    private let isShared: Bool

    init(_ context: PartContext) async throws {
        let journal = StoreTransferJournal(store: context.store)
        isShared = context.initialConfiguration.value(Keys.controlGroup) != nil
        session = TransferSession(
            configuration: TransferConfiguration(context.initialConfiguration, isShared: isShared),
            records: try journal.open(),
            journal: journal,
            clock: context.clock,
            group: context.group,
            logger: context.logger
        ) { [endings] transfer, isProgress in
            endings.note(transfer)
            context.events.post(.transfer(transfer))
            if transfer.state.isOver { context.events.ride() }
            if !isProgress { context.events.workChanged() }
        }
    }

    var services: [any Service] { [session] }

    func isAtWork() async -> Bool { await session.isAtWork }

    func reload(_ configuration: DaemonConfiguration, changed: Set<String>, isAnyoneAttached: Bool) async {
        await session.use(TransferConfiguration(configuration, isShared: isShared))
    }

    func declare(_ configuration: DaemonConfiguration) async throws {
        await session.declare(configuration.declarations.sessions)
    }

    func report(in status: inout ServiceStatus) async {
        let open = await session.open
        status.transfers = open.isEmpty ? nil : open
    }

    func report(in metrics: inout MetricsText) async {
        let bytes = await session.transferredBytes
        metrics.add(
            "backgrounder_transfer_bytes_total",
            .counter,
            "Bytes of files that transfers have moved.",
            [("download", TransferDirection.get), ("upload", .put)].map { name, direction in
                .init(["direction": name], bytes[direction] ?? 0)
            }
        )
    }

    /// Enqueues a discretionary download for a fetch source. The session has the name of the source.
    func enqueue(
        _ url: String,
        to destination: String,
        exists: ExistingFile,
        source: String,
        namedBy namer: URLNamer
    ) async throws -> Transfer {
        try await session.add(
            TransferRequest(url: url, destination: destination, session: source, exists: exists, discretionary: true),
            namedBy: namer
        )
    }

    /// Downloads a file in place of an existing one, and returns the transfer once it has ended; `nil` if the task was cancelled.
    func download(_ url: String, to destination: String, sha256: String) async throws -> Transfer? {
        let request = TransferRequest(
            url: url,
            destination: destination,
            session: "fleet",
            sha256: sha256,
            exists: .overwrite
        )
        let transfer = try await session.add(request)
        let ending = endings.ending(of: transfer.id)
        // It may have ended before.
        let current = try await session.transfer(transfer.id)
        if current.state.isOver { return current }
        for await ended in ending { return ended }
        return nil
    }

    /// Returns the open transfers and the newest ended ones.
    func all() async throws -> [Transfer] { try await session.transfers() }

    func addRoutes(to router: inout ControlRouter) {
        router.on(Routes.transfers) { [session] _ in try await session.transfers() }
        router.on(Routes.addTransfer) { [session] request in try await session.add(request.body) }
        router.on(Routes.clearTransfers) { [session] _ in ClearReply(removed: try await session.clear()) }
        router.on(Routes.transfer) { [session] request in try await session.transfer(request.id) }
        router.on(Routes.cancelTransfer) { [session] request in try await session.cancel(request.id) }
        router.on(Routes.pauseTransfer) { [session] request in try await session.pause(request.id) }
        router.on(Routes.resumeTransfer) { [session] request in try await session.resume(request.id) }
        router.on(Routes.sessions) { [session] _ in try await session.sessions() }
        router.on(Routes.sessionEvents) { [session] request in try await session.events(of: request.name) }
        router.on(Routes.acknowledgeEvents) { [session] request in
            try await session.acknowledge(request.name, through: request.body.seq)
        }
    }
}

extension TransferConfiguration {
    fileprivate init(_ configuration: DaemonConfiguration, isShared: Bool) {
        var limits = TransferLimits()
        limits.retryMaximum = configuration.value(Keys.retryMaximum)
        self.init(
            roots: configuration.transferRoots,
            // Group members may use the socket; do not let them read arbitrary files through the service.
            sendsOnlyFromRoots: isShared,
            policy: configuration.webPolicy,
            limits: limits
        )
    }
}

extension TransferError: WireErrorConvertible {
    /// The error as it crosses the socket.
    package var wireError: WireError {
        switch self {
        case .noSuchTransfer: WireError(.notFound, description, hint: "`backgrounder transfer list` lists the ids")
        case .noSuchSession: WireError(.notFound, description, hint: "a session exists from its first transfer on")
        case .noSuchFile: WireError(.notFound, description, hint: "check the path")
        case .isOver:
            WireError(
                .conflict,
                description,
                hint: "start it again with `backgrounder transfer get` or `backgrounder transfer put`"
            )
        case .exists: WireError(.conflict, description, hint: "use --exists overwrite or --exists rename")
        case .tooMany: WireError(.conflict, description, hint: "cancel some, or wait")
        case .plain(let host):
            WireError(.conflict, description, hint: "use https, or add \(host) to transfers.allowHTTP")
        case .outsideRoots:
            WireError(.conflict, description, hint: "use one of them, or add the folder to transfers.roots")
        case .notAFolder, .notAFile: WireError(.conflict, description, hint: "check the path and its owner")
        case .cannotStore: WireError(.unavailable, description, hint: "`backgrounder doctor` says what to do")
        case .url(.credentials):
            WireError(.invalid, description, hint: "write them to a file and pass it with --credentials FILE")
        case .credentials(.missing): WireError(.notFound, description, hint: "check the path")
        case .credentials: WireError(.invalid, description)
        case .url: WireError(.invalid, description, hint: "use a URL such as https://example.org/file")
        case .sizeLimit: WireError(.invalid, description, hint: "use at least 1 byte")
        case .relative: WireError(.invalid, description, hint: "use an absolute path")
        case .name: WireError(.invalid, description, hint: "name the file: DIR/NAME")
        case .digest: WireError(.invalid, description, hint: "use 64 hexadecimal digits")
        case .session:
            WireError(.invalid, description, hint: "use 1 to 100 bytes without slashes and control characters")
        }
    }
}
