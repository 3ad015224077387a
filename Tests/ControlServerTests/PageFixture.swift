import BackgrounderAPI
import ControlServer
import FoundationEssentials
import Logging
import NIOPosix
import ServiceLifecycle
import Synchronization
import TestSupport

/// A server of the page on a free port of loopback, with the routes of a test and two sessions.
final class PageFixture: Sendable {
    /// The tokens of the sessions 1, which may control, and 2, which may read.
    static let control = String(repeating: "c", count: 64)
    static let read = String(repeating: "d", count: 64)

    let port: Int
    let server: PageServer
    let sessions = Sessions()
    private let service: ServiceGroup
    private let run: Task<Void, any Error>

    /// Returns once the port accepts connections.
    init(
        requestLimit: Duration = .seconds(10),
        tiles: String? = nil,
        log: any LogHandler = SwiftLogNoOpLogHandler(),
        attachments: any Attachments = AttachmentLog(),
        hub: EventHub = EventHub(clock: ContinuousClock()) { .sample() },
        readerTimes: ReaderTimes = ReaderTimes()
    ) async throws {
        let sessions = sessions
        var router = ControlRouter()
        router.on(Routes.status) { _ in .sample }
        router.on(Routes.stop) { _ in ProcessReply(pid: 1) }
        router.on(Routes.pageSessions) { _ in await sessions.all }
        router.on(Routes.removeItem) { _ in Empty() }
        router.on(Routes.beginTask) { _ in Self.task }
        router.on(Routes.beginPageSession) { request in
            guard request.body.code == "right" else { throw WireError(.unauthorized, "the code is not valid") }
            return PageToken(token: Self.control, scope: .control, expires: Date(timeIntervalSince1970: 0))
        }
        router.on(Routes.page) { request in
            PageDescription(scope: request.access, expires: Date(timeIntervalSince1970: 0), version: "1")
        }
        router.serveEvents(
            from: hub,
            attachments: attachments,
            readerTimes: readerTimes,
            defaultInterval: { .seconds(1) }
        ) { _ in AsyncStream { $0.finish() } }
        let logger = Logger(label: "test") { _ in log }
        let server = PageServer(
            responder: router.makeResponder(),
            authority: sessions,
            tilesOrigin: tiles,
            group: MultiThreadedEventLoopGroup.singleton,
            logger: logger,
            requestLimit: requestLimit
        )
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let listener = Listener(server: server) { continuation.yield($0) }
        let service = ServiceGroup(services: [listener], logger: logger)
        (self.server, self.service) = (server, service)
        run = Task { try await service.run() }
        var iterator = ports.makeAsyncIterator()
        port = await iterator.next() ?? 0
    }

    deinit { run.cancel() }

    /// Shuts the server down gracefully and returns once it has ended.
    func stop() async throws {
        await service.triggerGracefulShutdown()
        try await run.value
    }

    func connect(token: String? = PageFixture.control) throws -> HTTPConnection {
        try HTTPConnection(port: port, token: token)
    }

    private static let task = BackgroundTask(id: 1, name: "a", command: ["b"], state: .running, budget: 1, grace: 0)

    private struct Listener: Service {
        let server: PageServer
        let onRunning: @Sendable (Int) -> Void

        func run() async throws {
            try await server.run(
                at: PageAddress(host: "127.0.0.1", port: 0, hosts: ["127.0.0.1", "[::1]", "Bus.local"])
            ) {
                onRunning($0)
            }
        }
    }

    /// Two sessions that a test can end.
    final class Sessions: PageAuthority {
        private let tokens = Mutex([PageFixture.control: 1, PageFixture.read: 2])

        var all: [PageSession] {
            get async { tokens.withLock { $0.values.sorted() }.map(Self.session) }
        }

        func session(withToken token: String) async -> PageSession? {
            tokens.withLock { $0[token] }.map(Self.session)
        }

        func end(_ id: Int) {
            tokens.withLock { $0 = $0.filter { $0.value != id } }
        }

        private static func session(_ id: Int) -> PageSession {
            PageSession(id: id, scope: id == 1 ? .control : .read, expires: Date(timeIntervalSince1970: 0))
        }
    }
}
