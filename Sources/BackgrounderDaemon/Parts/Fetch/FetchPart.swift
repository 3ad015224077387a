import BackgroundFetch
import BackgroundTransfers
import BackgrounderAPI
import Logging
import ServiceLifecycle
import SystemSupport

/// Background fetch as a part of the service.
struct FetchPart: DaemonPart {
    let context: PartContext
    let scheduler: FetchScheduler
    private let transfers: TransfersPart
    private let counts = RunCounts()

    init(_ context: PartContext, transfers: TransfersPart) async throws {
        self.context = context
        self.transfers = transfers
        scheduler = try FetchScheduler.make(
            StoreFetchJournal(store: context.store),
            web: WebOrigin(clients: context.web, policy: { await context.preferences.configuration.webPolicy }),
            environment: context.commandEnvironment,
            downloader: Self.downloader(transfers, logger: context.logger),
            clock: context.clock,
            logger: context.logger
        ) { [counts] event in
            switch event {
            case .run(let run):
                counts.count(run)
                context.events.post(.fetch(run))
                context.events.workChanged()
            case .changed: context.events.workChanged()
            }
        }
        // Before a push or a command can begin another run of the same source.
        try await scheduler.closeOpenRuns()
    }

    var services: [any Service] { [scheduler] }

    /// Runs the fetches that may run now, because the service is awake anyway. Cheap enough for every fix. Any thread.
    func ride() {
        scheduler.ride()
    }

    /// Fetches `source` for a push; returns `nil` if it may not be fetched or the service is stopping.
    func push(_ source: String) async -> FetchRun? {
        do {
            let run = try await scheduler.run(source, .push)
            return await scheduler.phase == .ending ? nil : run
        } catch {
            context.logger.info("\(source): ignored a push message: \(error)")
            return nil
        }
    }

    /// Checks that the service may contact the server of a source, as for a transfer, and that transfers may write to
    /// its folder.
    ///
    /// - Throws: a `conflict` otherwise.
    func check(_ definition: FetchDefinition) async throws(WireError) {
        let configuration = await context.preferences.configuration
        let problem = configuration.webProblem(of: definition) ?? definition.download.flatMap(configuration.rootProblem)
        if let problem { throw WireError(.conflict, problem) }
    }

    /// Returns a downloader that hands enclosures to the transfers. One that is refused permanently is logged and dropped, so that
    /// it does not block the others.
    private static func downloader(_ transfers: TransfersPart, logger: Logger) -> FetchDownloader {
        { source, urls, folder, namer in
            let folder = RuntimePaths.absolute(folder)
            var known = try await transfers.all()
            for url in urls {
                // A file that is not of a transfer must not prevent the download of a new enclosure.
                let (path, exists): (String, ExistingFile)
                switch EnclosureFiles.destination(of: url, in: folder, among: known) {
                case .open: continue
                case .downloaded(let file): (path, exists) = (file, .fail)
                case .new(let file): (path, exists) = (file, .rename)
                }
                do {
                    known.append(
                        try await transfers.enqueue(url, to: path, exists: exists, source: source, namedBy: namer)
                    )
                } catch let error as TransferError {
                    switch error {
                    case .tooMany, .cannotStore: throw error
                    // It was downloaded before, and its file is still there.
                    case .exists: logger.info("\(source): not downloading \(url) again: \(error)")
                    default: logger.warning("\(source): cannot download \(url): \(error)")
                    }
                }
            }
        }
    }

    /// Returns whether the source exists.
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

    func reload(_ configuration: DaemonConfiguration, changed: Set<String>, isAnyoneAttached: Bool) async {
        await apply(isAnyoneAttached: isAnyoneAttached)
    }

    func declare(_ configuration: DaemonConfiguration) async throws {
        try await scheduler.declare(configuration.declarations.sources, in: configuration.file)
    }

    func report(in status: inout ServiceStatus) async {
        status.fetch = await scheduler.list()
    }

    func report(in metrics: inout MetricsText) async {
        let samples = counts.samples(of: await scheduler.list().map(\.name))
        metrics.add("backgrounder_fetch_runs_total", .counter, "Runs of the fetch sources that ended.", samples)
    }
}

extension FetchScheduler {
    /// Creates a scheduler with real sources and the journal of a store.
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
