import BackgroundFetch
import BackgrounderAPI
import ControlServer
import Logging
import ServiceLifecycle
import StateStore

/// Background fetch, as the service holds it.
struct FetchPart: DaemonPart {
    let context: PartContext
    let scheduler: FetchScheduler
    private let transfers: TransfersPart

    init(_ context: PartContext, transfers: TransfersPart) async throws {
        self.context = context
        self.transfers = transfers
        scheduler = try FetchScheduler.make(
            StoreFetchJournal(store: context.store),
            web: WebOrigin(clients: context.web, localHosts: context.configuration.localHosts),
            environment: context.commandEnvironment,
            downloader: Self.downloader(transfers, logger: context.logger),
            clock: context.clock,
            logger: context.logger
        ) { event in
            switch event {
            case .run(let run):
                context.post(.fetch(run))
                context.changed()
            case .changed: context.changed()
            }
        }
        // Before a message or a command may begin another run of the same source.
        try await scheduler.closeOpenRuns()
    }

    var services: [any Service] { [scheduler] }

    /// The service is awake for something else: what may run now does. Cheap enough for every fix, from any thread.
    func ride() {
        scheduler.ride()
    }

    /// Fetches `source` because a message of a broker asks for it; `nil` where it may not be fetched, or the service stops.
    func push(_ source: String) async -> FetchRun? {
        do {
            let run = try await scheduler.run(source, .push)
            return await scheduler.isEnding ? nil : run
        } catch {
            context.logger.info("\(source): a message asks for a fetch, but \(error).")
            return nil
        }
    }

    /// - Throws: `conflict` where transfers may not bring anything into `folder`.
    func checkDownload(_ folder: String) throws(WireError) {
        let folder = RuntimePaths.absolute(folder)
        guard !transfers.roots.contains(where: { isPath(folder, in: $0) }) else { return }
        throw WireError(
            .conflict,
            "\(folder) is outside of the folders for transfers, \(transfers.roots.joined(separator: ", "))",
            hint: "give one of them, or add the folder to transfers.roots"
        )
    }

    /// Hands enclosures to the transfers. One that is refused for good is said and let go, so that it holds no other up.
    private static func downloader(_ transfers: TransfersPart, logger: Logger) -> FetchDownloader {
        { source, urls, folder, namer in
            let folder = RuntimePaths.absolute(folder)
            var known = try await transfers.all()
            for url in urls {
                guard let path = EnclosureFiles.path(of: url, in: folder, among: known) else { continue }
                do {
                    known.append(try await transfers.enqueue(url, to: path, source: source, namedBy: namer))
                } catch let error as TransferError {
                    switch error {
                    case .tooMany, .cannotStore: throw error
                    // It was brought before.
                    case .exists: logger.info("\(source): \(error), and is not downloaded again.")
                    default: logger.warning("\(source): \(url) is not downloaded: \(error)")
                    }
                }
            }
        }
    }

    /// Whether there is such a source.
    func hasSource(_ name: String) async -> Bool {
        await scheduler.hasSource(name)
    }

    func isAtWork() async -> Bool { await scheduler.hasWork }

    func apply(isAnyoneAttached: Bool) async {
        await scheduler.apply(
            isAnyoneAttached: isAnyoneAttached,
            isDeclared: context.modes.declared.contains(.fetch)
        )
    }

    func report(in status: inout ServiceStatus) async {
        status.fetch = await scheduler.list()
    }

    /// - Throws: `conflict` when the mode may not do anything now.
    func requireMode() throws(WireError) {
        try context.modes.require(.fetch, attached: context.attached())
    }
}

extension FetchScheduler {
    /// With real sources, over the journal of a store.
    static func make(
        _ journal: StoreFetchJournal,
        web: WebOrigin,
        environment: [String: String],
        downloader: FetchDownloader?,
        clock: any Clock<Duration>,
        logger: Logger,
        onEvent: @escaping @Sendable (FetchEvent) -> Void
    ) throws -> FetchScheduler {
        let origin = LiveOrigin(
            web: web,
            commands: CommandOrigin(environment: environment)
        )
        return FetchScheduler(
            try journal.saved(logger: logger),
            journal: journal,
            origin: origin,
            downloader: downloader,
            clock: clock,
            logger: logger,
            onEvent: onEvent
        )
    }
}
