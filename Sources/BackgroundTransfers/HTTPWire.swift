import NIOCore
import NIOHTTP1
import NIOSSL
import NIOTLS

/// One HTTP request and its reply, on a channel of their own.
struct HTTPWire: Sendable {
    let channel: any Channel
    private let parts: NIOLoopBound<ReplyParts>

    /// Adds the handlers for TLS and HTTP to a channel that was just connected. Call it on the channel's event loop.
    ///
    /// - Parameters:
    ///   - tls: `nil` for a connection without TLS.
    ///   - handshakeTime: the timeout for the TLS handshake.
    init(_ channel: any Channel, host: String, tls: NIOSSLContext?, handshakeTime: TimeAmount) throws {
        let pipeline = channel.pipeline.syncOperations
        let parts = ReplyParts(on: channel.eventLoop, handshakeTime: tls.map { _ in handshakeTime })
        do {
            if let tls {
                let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
                try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : host))
            }
            try pipeline.addHTTPClientHandlers()
            try pipeline.addHandler(parts)
        } catch {
            channel.close(promise: nil)
            throw error
        }
        self.channel = channel
        self.parts = NIOLoopBound(parts, eventLoop: channel.eventLoop)
    }

    /// Sends a part of the request. Returns when the kernel has accepted it.
    func send(_ part: HTTPClientRequestPart) async throws {
        try await channel.writeAndFlush(part).get()
    }

    /// Returns the head of the reply. Call it once, before reading ``body``.
    func head() async throws -> HTTPResponseHead {
        guard case .head(let head) = try await next() else { throw HTTPParserError.invalidEOFState }
        return head
    }

    /// The body of the reply. Iterate over it once.
    var body: ReplyBody { ReplyBody(wire: self) }

    /// Returns the next part of the reply.
    fileprivate func next() async throws -> HTTPClientResponsePart {
        try await channel.eventLoop.flatSubmit { [parts] in parts.value.next() }.get()
    }
}

/// The body of a reply, as it arrives.
struct ReplyBody: AsyncSequence, Sendable {
    struct Iterator: AsyncIteratorProtocol {
        fileprivate let wire: HTTPWire

        func next() async throws -> ByteBuffer? {
            guard case .body(let buffer) = try await wire.next() else { return nil }
            return buffer
        }
    }

    fileprivate let wire: HTTPWire

    func makeAsyncIterator() -> Iterator { Iterator(wire: wire) }
}

/// The channel handler that delivers the parts of a reply one at a time.
///
/// It reads from the socket only while a part is awaited, because data that the process has read but not used is lost
/// when it is killed. Only after the peer has closed the connection, the rest is read regardless.
private final class ReplyParts: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let loop: any EventLoop
    /// The timeout for the handshake; `nil` without TLS.
    private let handshakeTime: TimeAmount?
    private var handshakeLimit: Scheduled<Void>?
    private var context: ChannelHandlerContext?
    /// Parts that arrived together with the last delivered one.
    private var parts: CircularBuffer<HTTPClientResponsePart> = []
    private var waiting: EventLoopPromise<HTTPClientResponsePart>?
    private var failure: (any Error)?
    /// Whether a read was requested while no part was awaited.
    private var isReadHeld = false

    init(on loop: any EventLoop, handshakeTime: TimeAmount?) { (self.loop, self.handshakeTime) = (loop, handshakeTime) }

    /// Returns the next part; the event loop must be current.
    func next() -> EventLoopFuture<HTTPClientResponsePart> {
        if let part = parts.popFirst() { return loop.makeSucceededFuture(part) }
        if let failure { return loop.makeFailedFuture(failure) }
        let promise = loop.makePromise(of: HTTPClientResponsePart.self)
        waiting = promise
        if isReadHeld {
            isReadHeld = false
            context?.read()
        }
        return promise.futureResult
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        guard let handshakeTime else { return }
        handshakeLimit = loop.assumeIsolated().scheduleTask(in: handshakeTime) {
            self.errorCaught(context: context, error: ChannelError.connectTimeout(handshakeTime))
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        // A channel that is closed while it becomes active reports nothing else.
        fail(ChannelError.alreadyClosed)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { handshakeLimit?.cancel() }
        context.fireUserInboundEventTriggered(event)
    }

    func read(context: ChannelHandlerContext) {
        if waiting == nil { isReadHeld = true } else { context.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // After an error, the parser mistakes the end of the connection for the end of a body without a length.
        guard failure == nil else { return }
        parts.append(unwrapInboundIn(data))
        guard let waiting else { return }
        self.waiting = nil
        waiting.succeed(parts.removeFirst())
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // A local close fails the pending read too.
        fail(ChannelError.alreadyClosed)
        context.close(mode: mode, promise: promise)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(HTTPParserError.invalidEOFState)
    }

    /// Fails the pending read and all later ones with the first error.
    private func fail(_ error: any Error) {
        handshakeLimit?.cancel()
        failure = failure ?? error
        waiting?.fail(error)
        waiting = nil
    }
}
