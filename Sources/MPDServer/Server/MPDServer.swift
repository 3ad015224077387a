import Glibc
package import Logging
package import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization
package import SystemSupport

/// A server that lets MPD clients control the player, on a Unix socket and over TCP.
///
///     let server = try await MPDServer.bind(socket: path, addresses: [], access: MPDAccess(), player: player,
///                                           database: database, hub: hub, group: group, logger: logger)
///     try await server.run()
///
/// The protocol is that of MPD 0.23 (https://mpd.readthedocs.io/en/v0.23.12/protocol.html). While clients are silent,
/// the server causes no wakeups.
package struct MPDServer: Service {
    private typealias Connection = NIOAsyncChannel<MPDLine, ByteBuffer>
    private typealias Listener = NIOAsyncChannel<any Channel, Never>

    private let listeners: [Listener]
    private let context: MPDContext
    private let logger: Logger

    /// Binds the sockets; ``run()`` then serves the clients.
    ///
    /// - Parameters:
    ///   - socket: the path of the Unix socket, which no other process may serve. An existing file is replaced. The
    ///     mode of the file depends on umask(2).
    ///   - access: the passwords and permissions of clients on TCP.
    ///   - hub: the hub that receives the player's and the database's events.
    /// - Throws: ``MPDBindError``.
    package static func bind(
        socket: String,
        addresses: [ListenAddress],
        access: MPDAccess,
        player: any MPDPlayer,
        database: (any MPDDatabase)?,
        hub: MPDHub,
        group: any EventLoopGroup,
        logger: Logger,
        limits: MPDLimits = MPDLimits()
    ) async throws(MPDBindError) -> MPDServer {
        let context = MPDContext(
            commands: MPDCommand.all,
            player: player,
            database: database,
            hub: hub,
            gate: PasswordGate(access, limits: limits, group: group, logger: logger),
            limits: limits,
            started: .now
        )
        // Connections are not read until they are served, so unserved ones need no cleanup at shutdown.
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
        // Tuned: a client that leaves the network while in idle is dropped after four minutes.
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

    /// Returns the system's error text, without the names of NIO's functions.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as IOError: systemMessage(error.errnoCode)
        case is SocketAddressError.UnknownHost: "no such host"
        default: "\(error)"
        }
    }

    private init(listeners: [Listener], context: MPDContext, logger: Logger) {
        self.listeners = listeners
        self.context = context
        self.logger = logger
    }

    /// Serves clients until graceful shutdown, which closes all connections immediately.
    package func run() async throws {
        let slots = ConnectionSlots(context.limits.connections)
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for listener in listeners { group.addTask { await accept(on: listener, slots) } }
            }
        }
    }

    private func accept(on listener: Listener, _ slots: ConnectionSlots) async {
        do {
            try await listener.executeThenClose { connections in
                try await withThrowingDiscardingTaskGroup { group in
                    for try await connection in connections {
                        guard slots.occupy() else {
                            if slots.isNews() {
                                logger.warning(
                                    "MPD: all \(context.limits.connections) connection slots are in use; rejecting clients"
                                )
                            }
                            Self.end(connection)
                            continue
                        }
                        group.addTask {
                            await serve(connection)
                            slots.leave()
                        }
                    }
                }
            }
        } catch {
            guard !Task.isCancelled else { return }
            logger.error(
                "MPD: stopped listening on \(listener.channel.localAddress.map { "\($0)" } ?? "a socket"): \(error)"
            )
        }
    }

    private func serve(_ channel: any Channel) async {
        await withTaskCancellationHandler {
            // Errors are ignored: clients may disconnect at any time.
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
                    guard try await session.receive(line) == .continues else { break }
                }
                Self.end(channel)
            }
        } onCancel: {
            Self.end(channel)
        }
    }

    /// Shuts down the output, then closes the channel. A child process may have inherited the socket, which NIO opens
    /// without FD_CLOEXEC; closing only this process's descriptor would not end the connection for the client.
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

/// An error that prevents the server from listening.
package struct MPDBindError: Error, CustomStringConvertible {
    package let place: String
    package let reason: String

    package var description: String { "cannot listen for MPD clients on \(place): \(reason)" }
}

/// The connection slots of a server.
private final class ConnectionSlots: Sendable {
    private struct State {
        var free: Int
        var isTold = false
    }

    private let state: Mutex<State>

    init(_ count: Int) {
        state = Mutex(State(free: count))
    }

    func occupy() -> Bool {
        state.withLock { state in
            guard state.free > 0 else { return false }
            state.free -= 1
            return true
        }
    }

    func leave() {
        state.withLock { $0 = State(free: $0.free + 1) }
    }

    /// Returns whether to log that no slot is free: true once until a client leaves, so that rejected clients do not
    /// fill the log.
    func isNews() -> Bool {
        state.withLock { state in
            defer { state.isTold = true }
            return !state.isTold
        }
    }
}
