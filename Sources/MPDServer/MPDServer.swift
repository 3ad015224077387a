import BackgrounderAPI
import Glibc
package import Logging
package import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// The player behind MPD's protocol, on a Unix socket and on TCP.
///
///     let server = try await MPDServer.bind(socket: path, addresses: [], access: MPDAccess(), player: player,
///                                           database: database, hub: hub, group: group, logger: logger)
///     try await server.run()
///
/// The protocol is that of MPD 0.23 (https://mpd.readthedocs.io/en/v0.23.12/protocol.html). While no client says
/// anything nothing wakes up.
package struct MPDServer: Service {
    /// The version of the protocol that is spoken, which clients compare with what they need.
    package static let protocolVersion = "0.23.5"

    private typealias Connection = NIOAsyncChannel<MPDLine, ByteBuffer>
    private typealias Listener = NIOAsyncChannel<any Channel, Never>

    private let listeners: [Listener]
    private let context: MPDContext
    private let logger: Logger

    /// Takes the sockets; clients are served when ``run()`` is.
    ///
    /// - Parameters:
    ///   - socket: a path that nobody else serves; a file that is there is replaced. Its mode is what umask(2) leaves.
    ///   - access: what clients on TCP may do.
    ///   - hub: to be told of events.
    /// - Throws: ``MPDBindError``.
    package static func bind(
        socket: String,
        addresses: [MPDAddress],
        access: MPDAccess,
        player: any MPDPlayer,
        database: (any MPDDatabase)?,
        hub: MPDHub,
        group: any EventLoopGroup,
        logger: Logger,
        limits: MPDLimits = MPDLimits()
    ) async throws(MPDBindError) -> MPDServer {
        let context = MPDContext(
            player: player,
            database: database,
            hub: hub,
            gate: PasswordGate(access, limits: limits, group: group, logger: logger),
            limits: limits,
            started: .now
        )
        // Nothing is read before a connection is served: one that never is, since the server ends, needs no end.
        func makeBootstrap() -> ServerBootstrap {
            ServerBootstrap(group: group)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.autoRead, value: false)
        }
        let open: @Sendable (any Channel) -> EventLoopFuture<any Channel> = { channel in
            channel.eventLoop.makeSucceededFuture(channel)
        }
        var listeners: [Listener] = []
        do {
            listeners.append(
                try await makeBootstrap().bind(
                    unixDomainSocketPath: socket,
                    cleanupExistingSocketFile: true,
                    childChannelInitializer: open
                )
            )
        } catch {
            throw MPDBindError(place: socket, reason: Self.reason(error))
        }
        // judgement: a client that left the network while it idled is gone after four minutes
        let bootstrap = makeBootstrap()
            .childChannelOption(.socketOption(.so_keepalive), value: 1)
            .childChannelOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPIDLE)), value: 120)
            .childChannelOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPINTVL)), value: 30)
            .childChannelOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPCNT)), value: 4)
        for address in addresses {
            do {
                let listener: Listener = try await bootstrap.bind(
                    host: address.host,
                    port: address.port,
                    childChannelInitializer: open
                )
                listeners.append(listener)
            } catch {
                for listener in listeners { listener.channel.close(promise: nil) }
                throw MPDBindError(place: address.description, reason: Self.reason(error))
            }
        }
        return MPDServer(listeners: listeners, context: context, logger: logger)
    }

    /// The system's words, without the names of NIO's functions.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as IOError: systemMessage(error.errnoCode)
        case is SocketAddressError.UnknownHost: "there is no such host"
        default: "\(error)"
        }
    }

    private init(listeners: [Listener], context: MPDContext, logger: Logger) {
        self.listeners = listeners
        self.context = context
        self.logger = logger
    }

    /// Serves until graceful shutdown, which closes all connections at once.
    package func run() async throws {
        let seats = Seats(context.limits.connections)
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for listener in listeners { group.addTask { await accept(on: listener, seats) } }
            }
        }
    }

    private func accept(on listener: Listener, _ seats: Seats) async {
        do {
            try await listener.executeThenClose { connections in
                try await withThrowingDiscardingTaskGroup { group in
                    for try await connection in connections {
                        guard seats.take() else {
                            if seats.isNews() {
                                logger.warning(
                                    "MPD: \(context.limits.connections) clients are connected; no more are served."
                                )
                            }
                            Self.end(connection)
                            continue
                        }
                        group.addTask {
                            await serve(connection)
                            seats.leave()
                        }
                    }
                }
            }
        } catch {
            guard !Task.isCancelled else { return }
            logger.error(
                "MPD: \(listener.channel.localAddress.map { "\($0)" } ?? "a socket") is no longer served: \(error)"
            )
        }
    }

    private func serve(_ channel: any Channel) async {
        await withTaskCancellationHandler {
            // A client that leaves in the middle is nothing to tell anybody.
            try? await open(channel).executeThenClose { lines, writer in
                try await channel.setOption(.autoRead, value: true).get()
                let stall = TimeAmount(context.limits.stall)
                let silence = SilenceWatch(context.limits.silence, on: channel.eventLoop) { Self.end(channel) }
                let isLocal = channel.localAddress?.pathname != nil
                let peer = isLocal ? .local : MPDPeer(address: channel.remoteAddress?.ipAddress)
                let session = MPDSession(context: context, peer: peer, silence: silence) { bytes in
                    let watch = channel.eventLoop.scheduleTask(in: stall) { Self.end(channel) }
                    defer { watch.cancel() }
                    try await writer.write(bytes)
                }
                await context.hub.join(session, context.player)
                defer {
                    silence.finish()
                    context.pictures.forget(ObjectIdentifier(session))
                    Task { await context.hub.leave(session) }
                }
                try await session.greet()
                for try await line in lines {
                    guard try await session.receive(line) == .goesOn else { break }
                }
                Self.end(channel)
            }
        } onCancel: {
            Self.end(channel)
        }
    }

    /// Says goodbye first: a child of this process may have got a copy of the socket, which NIO opens without
    /// FD_CLOEXEC, and closing ours alone would tell the client nothing.
    private static func end(_ channel: any Channel) {
        channel.close(mode: .output, promise: nil)
        channel.close(promise: nil)
    }

    private func open(_ channel: any Channel) async throws -> Connection {
        let limit = context.limits.line
        return try await channel.eventLoop.submit {
            try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(MPDLineDecoder(limit: limit)))
            return try Connection(wrappingChannelSynchronously: channel)
        }.get()
    }
}

/// Why the server cannot listen.
package struct MPDBindError: Error, CustomStringConvertible {
    package let place: String
    package let reason: String

    package var description: String { "MPD clients cannot be served on \(place): \(reason)" }
}

/// How many clients there are.
private final class Seats: Sendable {
    private struct State {
        var free: Int
        var isTold = false
    }

    private let state: Mutex<State>

    init(_ count: Int) {
        state = Mutex(State(free: count))
    }

    func take() -> Bool {
        state.withLock { state in
            guard state.free > 0 else { return false }
            state.free -= 1
            return true
        }
    }

    func leave() {
        state.withLock { $0 = State(free: $0.free + 1) }
    }

    /// Whether it is the first time since somebody left: those that come in vain do not fill the log.
    func isNews() -> Bool {
        state.withLock { state in
            defer { state.isTold = true }
            return !state.isTold
        }
    }
}
