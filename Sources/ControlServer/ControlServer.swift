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
    private let onRunning: @Sendable () async -> Void

    /// - Parameters:
    ///   - socket: a path that nobody else serves; a file that is there is replaced.
    ///   - requestLimit: after so long without a whole request a connection is closed.
    ///   - onRunning: called once the socket takes connections.
    package init(
        socket: String,
        router: consuming ControlRouter,
        group: any EventLoopGroup,
        logger: Logger,
        requestLimit: Duration = .seconds(10),
        onRunning: @escaping @Sendable () async -> Void
    ) {
        self.socket = socket
        self.responder = router.buildResponder()
        self.group = group
        self.logger = logger
        self.requestLimit = requestLimit
        self.onRunning = onRunning
    }

    /// Serves until graceful shutdown; requests in work are answered, event streams end.
    package func run() async throws {
        var quiet = logger
        quiet.logLevel = .warning
        let http = HTTPServerBuilder.http1(
            configuration: .init(
                additionalChannelHandlers: [RequestDeadline(limit: requestLimit)],
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 8192,
                    maxHeaderListSize: 16384,
                    maxHeaderFieldCount: 100
                )
            )
        )
        let server = try http.buildServer(
            configuration: ServerConfiguration(
                address: .unixDomainSocket(path: socket),
                availableConnectionsDelegate: MaximumAvailableConnections(256)
            ),
            eventLoopGroup: group,
            logger: quiet,
            responder: { [responder, quiet] request, writer, channel in
                let context = ControlContext(source: .init(channel: channel, logger: quiet))
                var response: Response
                do {
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
            onServerRunning: { [onRunning] _ in await onRunning() }
        )
        try await server.run()
    }
}

/// Hummingbird's context, and the channel, which the event stream watches.
struct ControlContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

extension HTTPField.Name {
    static var backgrounderVersion: Self { Self(Backgrounder.versionHeader) ?? .server }
}
