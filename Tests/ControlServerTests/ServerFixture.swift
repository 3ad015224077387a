import BackgrounderAPI
import ControlServer
import FoundationEssentials
import Glibc
import Logging
import NIOPosix
import ServiceLifecycle
import Synchronization
import TestSupport

/// A server on a temporary socket, with the routes of a test.
final class ServerFixture: Sendable {
    let path: String
    private let scratch: ScratchDirectory
    private let service: ServiceGroup
    private let run: Task<Void, any Error>

    /// Returns once the socket accepts connections.
    init(
        requestLimit: Duration = .seconds(10),
        access: AccessPolicy = AccessPolicy(owner: getuid()),
        slots: ConnectionLimits = ConnectionLimits(total: ConnectionLimits.most),
        log: any LogHandler = SwiftLogNoOpLogHandler(),
        routes: (inout ControlRouter) -> Void = { _ in }
    ) async throws {
        scratch = try ScratchDirectory()
        path = scratch.file("c.sock")
        var router = ControlRouter()
        routes(&router)
        let running = Signal()
        let isRunning = Mutex(false)
        let logger = Logger(label: "test") { _ in log }
        let server = ControlServer(
            socket: path,
            responder: router.makeResponder(),
            group: MultiThreadedEventLoopGroup.singleton,
            logger: logger,
            access: access,
            requestLimit: requestLimit,
            slots: slots
        ) {
            isRunning.withLock { $0 = true }
            running.post()
        }
        let service = ServiceGroup(services: [server], logger: logger)
        self.service = service
        run = Task { try await service.run() }
        try await running.wait(for: "server") { isRunning.withLock { $0 } ? () : nil }
    }

    deinit { run.cancel() }

    /// Shuts the server down gracefully and returns once it has ended.
    func stop() async throws {
        await service.triggerGracefulShutdown()
        try await run.value
    }

    func connect() throws -> HTTPConnection {
        try HTTPConnection(path)
    }
}

/// Records attachments in the order in which they happen.
final class AttachmentLog: Attachments {
    enum Entry: Hashable {
        case attached(Int)
        case stalled(Int, Bool)
        case detached(Int)
    }

    private let log = Mutex<[Entry]>([])
    private let signal = Signal()

    var entries: [Entry] { log.withLock { $0 } }

    /// Returns once `count` readers are attached.
    func wait(forAttached count: Int) async throws {
        try await signal.wait(for: "\(count) attached") {
            let changes = entries.map { entry in
                switch entry {
                case .attached: 1
                case .detached: -1
                case .stalled: 0
                }
            }
            return changes.reduce(0, +) == count ? () : nil
        }
    }

    /// Returns once `entry` is recorded.
    func wait(for entry: Entry) async throws {
        try await signal.wait(for: "\(entry)") { entries.contains(entry) ? () : nil }
    }

    func attached() async -> Int {
        let id = log.withLock { log in
            let id = log.count { if case .attached = $0 { true } else { false } } + 1
            log.append(.attached(id))
            return id
        }
        signal.post()
        return id
    }

    func stalled(_ id: Int, _ isStalled: Bool) async {
        add(.stalled(id, isStalled))
    }

    func detached(_ id: Int) async {
        add(.detached(id))
    }

    private func add(_ entry: Entry) {
        log.withLock { $0.append(entry) }
        signal.post()
    }
}

extension ServiceStatus {
    static let sample = ServiceStatus(
        version: "1",
        pid: 1,
        state: .background,
        since: Date(timeIntervalSince1970: 0),
        attached: 0,
        modes: []
    )
}

extension StateSnapshot {
    /// Returns a state with this track and `items` items in the queue.
    static func sample(track: [Location] = [], items: Int = 0) -> StateSnapshot {
        let queue = (0..<items).map {
            PlayerItem(id: $0 + 1, position: $0, path: "/music/" + String(repeating: "x", count: 80) + "\($0).mp3")
        }
        return StateSnapshot(status: .sample, track: track, queue: queue)
    }
}

extension Location {
    static func sample(_ index: Int) -> Location {
        Location(latitude: 1, longitude: Double(index % 180), timestamp: Date(timeIntervalSince1970: Double(index)))
    }
}
