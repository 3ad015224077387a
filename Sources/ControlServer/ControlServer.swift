import BackgrounderAPI
import HTTPTypes
import Hummingbird
import HummingbirdCore
package import Logging
package import NIOCore
import ServiceLifecycle

/// The control server: the routes of a ``ControlRouter`` and the event stream over HTTP/1.1 on a Unix socket.
///
///     var router = ControlRouter()
///     router.on(Routes.status) { _ in await daemon.status() }
///     let server = ControlServer(socket: path, responder: router.makeResponder(), group: group, logger: logger) { ready() }
package struct ControlServer: Service {
    private let socket: String
    private let responder: ControlResponder
    private let access: AccessPolicy
    private let listener: HTTPListener
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
        responder: ControlResponder,
        group: any EventLoopGroup,
        logger: Logger,
        access: AccessPolicy,
        requestLimit: Duration = .seconds(10),
        slots: ConnectionLimits = .ofThisProcess(),
        onRunning: @escaping @Sendable () async -> Void
    ) {
        self.socket = socket
        self.responder = responder
        self.access = access
        listener = HTTPListener(
            group: group,
            logger: logger,
            requestLimit: requestLimit,
            slots: ConnectionSlots(limits: slots)
        )
        self.onRunning = onRunning
    }

    /// Serves until graceful shutdown. Requests in progress are answered, and event streams end.
    package func run() async throws {
        try await listener.run(at: .unixDomainSocket(path: socket)) { [access] context in
            let peer = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable {
                (socket: NIOBSDSocket.Handle) in
                Peer(socket: socket)
            }
            return (peer ?? nil).map(access.opener)
        } respond: { [responder, listener] request, channel in
            guard let caller = listener.slots.caller(on: channel) else { return nil }
            do throws(WireError) { try BrowserGuard.check(request) } catch { return Response(refusing: error) }
            return await responder.respond(to: request, from: caller, on: channel, logger: listener.logger)
        } onRunning: { [onRunning] _ in
            await onRunning()
        }
    }
}

/// The context of a request: Hummingbird's, the channel, which the event stream watches, and the caller.
struct ControlContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    let caller: Caller

    /// The source of a request.
    struct Source: RequestContextSource {
        let logger: Logger
        let channel: any Channel
        let caller: Caller
    }

    init(source: Source) {
        coreContext = .init(source: source)
        channel = source.channel
        caller = source.caller
    }
}

extension HTTPField.Name {
    static var backgrounderVersion: Self { Self(Backgrounder.versionHeader) ?? .server }
}
