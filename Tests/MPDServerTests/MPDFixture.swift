import Foundation
import Logging
import MPDServer
import NIOPosix
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

/// The server on a socket of its own, in front of a player and a database that hold what a test needs.
final class MPDFixture: Sendable {
    let player: ListPlayer
    let hub = MPDHub()
    let path: String
    /// 0 where it does not listen on TCP.
    let port: Int
    let group = MultiThreadedEventLoopGroup.singleton
    let logger: Logger
    private let scratch: ScratchDirectory
    private let service: ServiceGroup
    private let run: Task<Void, any Error>

    init(
        database: ListDatabase? = .sample,
        access: MPDAccess = MPDAccess(),
        onTCP: Bool = false,
        limits: MPDLimits = MPDLimits(),
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) async throws {
        self.logger = logger
        scratch = try ScratchDirectory()
        path = scratch.file("mpd.sock")
        player = ListPlayer(hub: hub)
        port = onTCP ? try freePort(SOCK_STREAM) : 0
        let server = try await MPDServer.bind(
            socket: path,
            addresses: onTCP ? [try #require(MPDAddress("127.0.0.1:\(port)"))] : [],
            access: access,
            player: player,
            database: database,
            hub: hub,
            group: group,
            logger: logger,
            limits: limits
        )
        let service = ServiceGroup(services: [server], logger: logger)
        self.service = service
        run = Task { try await service.run() }
    }

    deinit { run.cancel() }

    /// Ends the server as a stop of the service does, and returns when it is at its end.
    func stop() async throws {
        await service.triggerGracefulShutdown()
        try await run.value
    }

    /// A client that has been greeted.
    func connect() async throws -> MPDTestClient { try await MPDTestClient(connectUnix(path), of: self) }
    func connectTCP() async throws -> MPDTestClient { try await MPDTestClient(connectLoopback(port: port), of: self) }
}

/// One connection, line by line.
final class MPDTestClient: Sendable {
    /// For sending; the reader closes its own.
    private let descriptor: Int32
    /// Kept as long as it has a client.
    private let fixture: MPDFixture
    private let reader: LineReader
    private let taken = Counter()

    init(_ descriptor: Int32, of fixture: MPDFixture) async throws {
        self.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        self.fixture = fixture
        reader = LineReader(descriptor)
        let greeting = try await line()
        #expect(greeting == "OK MPD \(MPDServer.protocolVersion)")
    }

    deinit { close(descriptor) }

    func send(_ text: String) async throws {
        let descriptor = descriptor
        try await blocking { try sendAll(descriptor, text) }
    }

    /// The next line.
    func line() async throws -> String {
        let index = taken.value
        let line = try await reader.wait(for: "line \(index)") { lines, isAtEnd in
            if lines.count > index { return lines[index] }
            return isAtEnd ? "<closed>" : nil
        }
        taken.value += 1
        return line
    }

    /// Lines up to the one that ends an answer, with it.
    func answer() async throws -> [String] {
        var lines: [String] = []
        repeat {
            lines.append(try await line())
        } while !(lines.last == "OK" || lines.last == "<closed>" || lines.last?.hasPrefix("ACK ") == true)
        return lines
    }

    /// Sends commands as one piece and gives the answer to the last of them.
    @discardableResult
    func ask(_ commands: String...) async throws -> [String] {
        try await send(commands.map { $0 + "\n" }.joined())
        var last: [String] = []
        for _ in commands { last = try await answer() }
        return last
    }
}

/// Runs what may block on a thread of its own: the server that it waits for needs those of the pool.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}

/// A number that one task after the other changes.
private final class Counter: Sendable {
    private let mutex = Mutex(0)

    var value: Int {
        get { mutex.withLock { $0 } }
        set { mutex.withLock { $0 = newValue } }
    }
}
