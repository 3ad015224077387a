import BackgrounderAPI
import HTTPTypes
import Hummingbird
import HummingbirdCore
package import Logging
package import NIOCore
import ServiceLifecycle

/// The control server: the routes of a ``ControlRouter`` and the event stream over HTTP/1.1 on a Unix socket.
///
/// It uses Hummingbird's server without its `Application`, which wakes an idle process five times a second. See
/// docs/decisions/0006-control-protocol.md.
///
///     var router = ControlRouter()
///     router.on(Routes.status) { _ in await daemon.status() }
///     let server = ControlServer(socket: path, router: router, group: group, logger: logger) { ready() }
package struct ControlServer: Service {
    private let socket: String
    private let responder: any HTTPResponder<ControlContext>
    private let group: any EventLoopGroup
    private let logger: Logger
    private let requestLimit: Duration
    private let slots: ConnectionSlots
    private let onRunning: @Sendable () async -> Void

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - socket: a path that no other process serves; an existing file is replaced.
    ///   - access: the rights of users.
    ///   - requestLimit: the time after which a connection without a whole request is closed.
    ///   - slots: the limits for connections.
    ///   - onRunning: called once the socket accepts connections.
    package init(
        socket: String,
        router: consuming ControlRouter,
        group: any EventLoopGroup,
        logger: Logger,
        access: AccessPolicy,
        requestLimit: Duration = .seconds(10),
        slots: ConnectionLimits = .ofThisProcess(),
        onRunning: @escaping @Sendable () async -> Void
    ) {
        self.socket = socket
        self.responder = router.buildResponder()
        self.group = group
        self.logger = logger
        self.requestLimit = requestLimit
        self.slots = ConnectionSlots(policy: access, limits: slots)
        self.onRunning = onRunning
    }

    /// The number of connections that may wait to be accepted.
    private static let backlog = 128

    /// Serves until graceful shutdown. Requests in progress are answered, and event streams end.
    package func run() async throws {
        var quiet = logger
        quiet.logLevel = .warning
        let http = HTTPServerBuilder.http1(
            configuration: .init(
                additionalChannelHandlers: [ConnectionHandler(limit: requestLimit, slots: slots)],
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 8192,
                    maxHeaderListSize: 16384,
                    maxHeaderFieldCount: 100
                )
            )
        )
        let server = try http.buildServer(
            configuration: ServerConfiguration(address: .unixDomainSocket(path: socket), backlog: Self.backlog),
            eventLoopGroup: group,
            logger: quiet,
            responder: { [responder, quiet, slots] request, writer, channel in
                var response: Response
                do {
                    guard let user = slots.user(of: channel) else { return channel.close(promise: nil) }
                    try BrowserGuard.check(request)
                    let context = ControlContext(source: .init(logger: quiet, channel: channel, user: user))
                    response = try await responder.respond(to: request, context: context)
                } catch {
                    response = Response(refusing: error, logger: quiet)
                }
                response.headers[.backgrounderVersion] = Backgrounder.version
                if request.method == .head { response = response.createHeadResponse() }
                try await writer.write(response: response.head, body: response.body)
            },
            onServerRunning: { [onRunning, slots] channel in
                // This fails if the channel is closed already; there is then nothing to accept.
                try? await channel.eventLoop.submit {
                    try channel.pipeline.syncOperations.addHandler(AcceptPause(slots: slots), position: .first)
                }.get()
                await onRunning()
            }
        )
        try await server.run()
    }
}

/// The context of a request: Hummingbird's, the channel, which the event stream watches, and the user.
struct ControlContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    let user: ConnectedUser

    /// The source of a request.
    struct Source: RequestContextSource {
        let logger: Logger
        let channel: any Channel
        let user: ConnectedUser
    }

    init(source: Source) {
        coreContext = .init(source: source)
        channel = source.channel
        user = source.user
    }

    /// Checks that the user has the right `level`.
    ///
    /// - Throws: ``WireError`` with `forbidden` otherwise.
    func require(_ level: AccessLevel) throws(WireError) {
        guard let own = user.level else {
            throw WireError(
                .forbidden,
                "user \(user.peer.user) may not use this service",
                hint: "run it as the service's user or as root, or join the group of control.group"
            )
        }
        guard own >= level else {
            throw WireError(
                .forbidden,
                "user \(user.peer.user) lacks the right to \(level.rawValue)",
                hint: "the operator can add the user, or a group of the user, to control.execute"
            )
        }
    }
}

extension HTTPField.Name {
    static var backgrounderVersion: Self { Self(Backgrounder.versionHeader) ?? .server }
}
