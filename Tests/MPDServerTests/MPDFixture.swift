import Foundation
import Logging
import NIOPosix
import ServiceLifecycle
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import MPDServer

/// A server on its own socket, with a player and a database that a test controls.
final class MPDFixture: Sendable {
    let player: ListPlayer
    let hub = MPDHub()
    let path: String
    /// 0 when the server does not listen on TCP.
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
            addresses: onTCP ? [try #require(ListenAddress("127.0.0.1:\(port)"))] : [],
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

    /// Shuts the server down gracefully and returns when it has ended.
    func stop() async throws {
        await service.triggerGracefulShutdown()
        try await run.value
    }

    /// Returns a client that has received the greeting.
    func connect() async throws -> MPDTestClient { try await MPDTestClient(connectUnix(path), of: self) }
    func connectTCP() async throws -> MPDTestClient { try await MPDTestClient(connectLoopback(port: port), of: self) }
}

/// A connection that is read line by line.
final class MPDTestClient: Sendable {
    /// A duplicate for sending; the reader closes the original.
    private let descriptor: Int32
    /// Keeps the server running as long as it has a client.
    private let fixture: MPDFixture
    private let reader: LineReader
    private let taken = Counter()

    init(_ descriptor: Int32, of fixture: MPDFixture) async throws {
        self.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        self.fixture = fixture
        reader = LineReader(descriptor)
        let greeting = try await line()
        #expect(greeting == "OK MPD \(MPDSession.protocolVersion)")
    }

    deinit { close(descriptor) }

    func send(_ text: String) async throws {
        let descriptor = descriptor
        try await blocking { try sendAll(descriptor, text) }
    }

    /// Returns the next line, or `<closed>` at the end of the connection.
    func line() async throws -> String {
        let index = taken.value
        let line = try await reader.wait(for: "line \(index)") { lines, isAtEnd in
            if lines.count > index { return lines[index] }
            return isAtEnd ? "<closed>" : nil
        }
        taken.value += 1
        return line
    }

    /// Returns the lines of the next answer, including its last one.
    func answer() async throws -> [String] {
        var lines: [String] = []
        repeat {
            lines.append(try await line())
        } while !(lines.last == "OK" || lines.last == "<closed>" || lines.last?.hasPrefix("ACK ") == true)
        return lines
    }

    /// Sends the commands in one write and returns the answer to the last one.
    @discardableResult
    func ask(_ commands: String...) async throws -> [String] {
        try await send(commands.map { $0 + "\n" }.joined())
        var last: [String] = []
        for _ in commands { last = try await answer() }
        return last
    }
}

/// Runs a blocking call on its own thread, since the server that it waits for needs the threads of the pool.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}

/// A number that tasks change one after the other.
private final class Counter: Sendable {
    private let mutex = Mutex(0)

    var value: Int {
        get { mutex.withLock { $0 } }
        set { mutex.withLock { $0 = newValue } }
    }
}
