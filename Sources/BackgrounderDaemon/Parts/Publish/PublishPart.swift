package import BackgrounderAPI
import ControlServer
import FleetCommands
import FleetPublisher
import ServiceLifecycle
import StateStore
import WebSupport

/// The publishers as a part of the service: they send the points of this machine to brokers, and receive commands.
struct PublishPart: DaemonPart {
    private let context: PartContext
    private let publisher: FleetPublisher
    private let desk: CommandDesk

    init(
        _ context: PartContext,
        audio: AudioPart,
        places: PlacesPart,
        fetch: FetchPart,
        transfers: TransfersPart
    ) async throws {
        self.context = context
        let configuration = context.initialConfiguration
        publisher = FleetPublisher(
            saved: try context.store.publishers(),
            position: try context.store.newestLocations(1).first,
            journal: StorePublisherJournal(store: context.store),
            startWithin: configuration.value(Keys.publishStartWithin),
            pace: configuration.value(Keys.publishPace),
            web: WebAccess(clients: context.web) { await context.preferences.configuration.webPolicy },
            clock: context.clock,
            logger: context.logger
        ) { context.events.stateChanged() }
        desk = CommandDesk(
            saved: try context.store.openCommands(),
            journal: StoreCommandJournal(store: context.store),
            keyFiles: { await context.preferences.configuration.value(Keys.fleetKeys) },
            workers: FleetWorkers(
                context: context,
                player: audio.player,
                speech: places.speech,
                fetch: fetch.scheduler,
                transfers: transfers,
                publisher: publisher
            ),
            clock: context.clock,
            logger: context.logger
        ) { [publisher] in await publisher.reply($0) }
    }

    /// Sets where the status documents come from, and begins to receive commands.
    func connect(status: @escaping @Sendable () async -> ServiceStatus) async {
        await publisher.connect(receiver: { [desk] in await desk.receive($0, of: $1) }, status: status)
    }

    var services: [any Service] { [publisher, desk] }

    /// Sends an event at a place. Any thread.
    func occurred(_ event: PlaceEvent) { publisher.occurred(event) }

    /// Notes that the state of the service changed. Any thread.
    func noteChange() { publisher.noteChange() }

    /// Notes that points were stored, the last of them at `newest`. Any thread.
    func stored(_ newest: Location) { publisher.stored(newest) }

    func declare(_ configuration: DaemonConfiguration) async throws {
        try await publisher.declare(configuration.declarations.publishers, in: configuration.file)
    }

    func report(in status: inout ServiceStatus) async {
        let all = await publisher.status()
        status.publishers = all.isEmpty ? nil : all
    }

    func report(in metrics: inout MetricsText) async {
        metrics.add(
            "backgrounder_publisher_backlog_points",
            .gauge,
            "Stored points that were not acknowledged.",
            await publisher.status().map { .init(["publisher": $0.name], $0.backlog) }
        )
    }

    func addRoutes(to router: inout ControlRouter) {
        router.on(Routes.publishers) { _ in await publisher.status() }
        router.on(Routes.addPublisher) { request in try await publisher.add(request.body) }
        router.on(Routes.publisher) { request in try await publisher.status(of: request.name) }
        router.on(Routes.removePublisher) { request in
            try await publisher.remove(request.name)
            return Empty()
        }
        router.on(Routes.pausePublisher) { request in try await publisher.pause(request.name) }
        router.on(Routes.resumePublisher) { request in try await publisher.resume(request.name) }
        router.on(Routes.rewindPublisher) { request in try await publisher.rewind(request.name, to: request.body.to) }
    }
}

extension PublisherError: WireErrorConvertible {
    /// The error as it crosses the socket.
    package var wireError: WireError {
        switch self {
        case .noSuchPublisher: WireError(.notFound, description, hint: "`backgrounder publish list` lists them")
        case .exists: WireError(.conflict, description, hint: "remove it first, or use another name")
        case .declared: WireError(.conflict, description, hint: "change the file, then run `backgrounder reload`")
        case .tooMany: WireError(.conflict, description, hint: "remove one with `backgrounder publish remove NAME`")
        case .invalid: WireError(.invalid, description)
        case .credentials(.missing): WireError(.notFound, description, hint: "check the path")
        case .credentials: WireError(.invalid, description)
        }
    }
}
