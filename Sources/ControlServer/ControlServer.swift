import BackgrounderAPI
import HTTPTypes
import Hummingbird
import HummingbirdCore
package import Logging
package import NIOCore
import ServiceLifecycle

/// HTTP/1.1 on a Unix socket: the routes of a ``ControlRouter`` and the event stream.
///
/// Hummingbird's server without its `Application`, whose date cache would wake an idle process five times a second.
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
    private let seats: Seats
    private let onRunning: @Sendable () async -> Void

    /// - Parameters:
    ///   - socket: a path that nobody else serves; a file that is there is replaced.
    ///   - access: who may do what.
    ///   - requestLimit: after so long without a whole request a connection is closed.
    ///   - seats: how many connections there may be.
    ///   - onRunning: called once the socket takes connections.
    package init(
        socket: String,
        router: consuming ControlRouter,
        group: any EventLoopGroup,
        logger: Logger,
        access: AccessPolicy,
        requestLimit: Duration = .seconds(10),
        seats: SeatLimits = .ofThisProcess(),
        onRunning: @escaping @Sendable () async -> Void
    ) {
        self.socket = socket
        self.responder = router.buildResponder()
        self.group = group
        self.logger = logger
        self.requestLimit = requestLimit
        self.seats = Seats(policy: access, limits: seats)
        self.onRunning = onRunning
    }

    /// Connections that wait to be accepted.
    private static let backlog = 128

    /// Serves until graceful shutdown; requests in work are answered, event streams end.
    package func run() async throws {
        var quiet = logger
        quiet.logLevel = .warning
        let http = HTTPServerBuilder.http1(
            configuration: .init(
                additionalChannelHandlers: [ConnectionHandler(limit: requestLimit, seats: seats)],
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
            responder: { [responder, quiet, seats] request, writer, channel in
                var response: Response
                do {
                    guard let user = seats.user(of: channel) else { return channel.close(promise: nil) }
                    try BrowserGuard.check(request)
                    let context = ControlContext(source: .init(logger: quiet, channel: channel, user: user))
                    response = try await responder.respond(to: request, context: context)
                    // Ours have a body; this is the router's own, for a path that it does not know.
                    if response.status == .notFound, response.body.contentLength == 0 { throw HTTPError(.notFound) }
                } catch {
                    response = Response(refusing: error)
                }
                response.headers[.backgrounderVersion] = Backgrounder.version
                if request.method == .head { response = response.createHeadResponse() }
                try await writer.write(response: response.head, body: response.body)
            },
            onServerRunning: { [onRunning, seats] channel in
                // It fails on a channel that is closed already, and then there is nothing to accept.
                try? await channel.eventLoop.submit {
                    try channel.pipeline.syncOperations.addHandler(AcceptPause(seats: seats), position: .first)
                }.get()
                await onRunning()
            }
        )
        try await server.run()
    }
}

/// Hummingbird's context, the channel, which the event stream watches, and who asks.
struct ControlContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    let user: SeatUser

    /// What a request brings along.
    struct Source: RequestContextSource {
        let logger: Logger
        let channel: any Channel
        let user: SeatUser
    }

    init(source: Source) {
        coreContext = .init(source: source)
        channel = source.channel
        user = source.user
    }

    /// - Throws: ``WireError`` with `forbidden` where the user has less than `level`.
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
                "user \(user.peer.user) may not do this: it needs the right to \(level.rawValue)",
                hint: "the operator can add the user, or one of its groups, to control.execute"
            )
        }
    }
}

extension HTTPField.Name {
    static var backgrounderVersion: Self { Self(Backgrounder.versionHeader) ?? .server }
}
