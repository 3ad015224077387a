import BackgrounderAPI
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import ServiceLifecycle

/// Serves HTTP/1.1 at an address within the limits of its connections.
///
/// It uses Hummingbird's server without its `Application`, which wakes an idle process five times a second. See
/// docs/decisions/0006-control-protocol.md.
struct HTTPListener: Sendable {
    /// The number of connections that may wait to be accepted.
    private static let backlog = 128

    let slots: ConnectionSlots
    /// Logs warnings and errors.
    let logger: Logger
    private let group: any EventLoopGroup
    private let requestLimit: Duration

    /// Creates a listener.
    ///
    /// - Parameter requestLimit: the time after which a connection without a whole request is closed.
    init(group: any EventLoopGroup, logger: Logger, requestLimit: Duration, slots: ConnectionSlots) {
        var quiet = logger
        quiet.logLevel = .warning
        (self.group, self.logger, self.requestLimit, self.slots) = (group, quiet, requestLimit, slots)
    }

    /// Serves until graceful shutdown or cancellation. At graceful shutdown, requests in progress are answered.
    ///
    /// - Parameters:
    ///   - identify: returns who opened a connection, on its event loop; `nil` closes it.
    ///   - respond: returns the response to a request; `nil` closes the connection.
    ///   - onRunning: receives the channel that accepts connections.
    /// - Throws: an error if the address cannot be used.
    func run(
        at address: BindAddress,
        tls: TLSConfiguration? = nil,
        identify: @escaping @Sendable (ChannelHandlerContext) -> ConnectionOpener?,
        respond: @escaping @Sendable (Request, any Channel) async -> Response?,
        onRunning: @escaping @Sendable (any Channel) async -> Void
    ) async throws {
        var http = HTTPServerBuilder.http1(
            configuration: .init(
                additionalChannelHandlers: [
                    ConnectionHandler(limit: requestLimit, slots: slots, identify: identify)
                ],
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 8192,
                    maxHeaderListSize: 16384,
                    maxHeaderFieldCount: 100
                )
            )
        )
        if let tls { http = try .tls(http, tlsConfiguration: tls) }
        let server = try http.buildServer(
            configuration: ServerConfiguration(address: address, backlog: Self.backlog),
            eventLoopGroup: group,
            logger: logger,
            responder: { request, writer, channel in
                guard var response = await respond(request, channel) else { return channel.close(promise: nil) }
                response.headers[.backgrounderVersion] = Backgrounder.version
                if request.method == .head { response = response.createHeadResponse() }
                try await writer.write(response: response.head, body: response.body)
            },
            onServerRunning: { [slots] channel in
                // This fails if the channel is closed already; there is then nothing to accept.
                try? await channel.eventLoop.submit {
                    try channel.pipeline.syncOperations.addHandler(AcceptPause(slots: slots), position: .first)
                }.get()
                await onRunning(channel)
            }
        )
        try await server.run()
    }
}
