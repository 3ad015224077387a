import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle
import SystemSupport

/// Serves `GET /metrics` and nothing else, for Prometheus.
struct MetricsServer: Service {
    private let channel: any Channel

    /// Begins to listen.
    ///
    /// - Parameter text: returns the metrics; called on an event loop.
    /// - Throws: ``MetricsServerError`` if the address cannot be used.
    init(_ address: ListenAddress, text: @escaping @Sendable () -> String) async throws(MetricsServerError) {
        do {
            channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
                        try channel.pipeline.syncOperations.addHandler(MetricsHandler(text))
                    }
                }
                .bind(host: address.host, port: address.port).get()
        } catch let error as IOError {
            throw MetricsServerError(address: address, reason: systemMessage(error.errnoCode))
        } catch {
            throw MetricsServerError(address: address, reason: "\(error)")
        }
    }

    /// Serves until the graceful shutdown.
    func run() async throws {
        try await withGracefulShutdownHandler {
            try await channel.closeFuture.get()
        } onGracefulShutdown: {
            channel.close(promise: nil)
        }
    }
}

/// The error for an address that cannot be used.
struct MetricsServerError: Error, CustomStringConvertible {
    let address: ListenAddress
    let reason: String

    var description: String { "cannot listen on \(address): \(reason); use another address with --metrics" }
}

private final class MetricsHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let text: @Sendable () -> String
    private var status = HTTPResponseStatus.ok

    init(_ text: @escaping @Sendable () -> String) { self.text = text }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            status = head.uri == "/metrics" ? (head.method == .GET ? .ok : .methodNotAllowed) : .notFound
        case .body: break
        case .end:
            let body = ByteBuffer(string: status == .ok ? text() : "\(status.reasonPhrase)\n")
            let headers: HTTPHeaders = [
                "Content-Type": status == .ok ? MetricsText.mediaType : "text/plain",
                "Content-Length": String(body.readableBytes),
            ]
            let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
