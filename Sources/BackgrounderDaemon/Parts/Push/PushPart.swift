package import BackgrounderAPI
import ControlServer
import ServiceLifecycle
import SilentPush
import WebSupport

/// Silent push as a part of the service: messages of brokers that trigger fetches.
struct PushPart: DaemonPart {
    private let context: PartContext
    private let receiver: PushReceiver

    init(_ context: PartContext, fetch: FetchPart) async throws {
        self.context = context
        let journal = StorePushJournal(store: context.store)
        receiver = PushReceiver(
            saved: try await journal.saved(),
            journal: journal,
            clock: context.clock,
            logger: context.logger,
            hasSource: { await fetch.hasSource($0) },
            fetch: { source, _ in await fetch.push(source) }
        ) { event in
            switch event {
            case .alert(let alert): context.events.post(.alert(alert))
            case .changed: context.events.workChanged()
            }
        }
    }

    var services: [any Service] { [receiver] }

    func isAtWork() async -> Bool { await receiver.isAtWork() }

    func apply(isAnyoneAttached: Bool) async {
        if context.modes.allow(.remoteNotification, isAnyoneAttached: isAnyoneAttached) {
            await receiver.resume()
        } else {
            await receiver.suspend()
        }
    }

    func reload(_ configuration: DaemonConfiguration, changed: Set<String>, isAnyoneAttached: Bool) async {
        await apply(isAnyoneAttached: isAnyoneAttached)
    }

    func declare(_ configuration: DaemonConfiguration) async throws {
        try await receiver.declare(configuration.declarations.pushes, in: configuration.file)
    }

    func addRoutes(to router: inout ControlRouter) {
        router.on(Routes.pushes) { _ in await receiver.status() }
        router.on(Routes.addPush) { request in try await receiver.add(request.body) }
        router.on(Routes.removePush) { request in
            try await receiver.remove(request.name)
            return Empty()
        }
        router.on(Routes.simulatePush) { request in
            try await receiver.simulate(request.body.payload, of: request.name)
        }
    }
}

extension PushError: WireErrorConvertible {
    /// The error as it crosses the socket.
    package var wireError: WireError {
        switch self {
        case .noSuchPush: WireError(.notFound, description, hint: "`backgrounder push list` lists them")
        case .exists: WireError(.conflict, description, hint: "remove it first, or use another name")
        case .declared: WireError(.conflict, description, hint: "change the file, then run `backgrounder reload`")
        case .tooMany: WireError(.conflict, description, hint: "remove one with `backgrounder push remove NAME`")
        case .invalid: WireError(.invalid, description)
        case .credentials(.missing): WireError(.notFound, description, hint: "check the path")
        case .credentials: WireError(.invalid, description)
        case .suspended:
            WireError(.conflict, description, hint: "add remote-notification to modes in config.yaml")
        case .system: WireError(.unavailable, description)
        }
    }
}
