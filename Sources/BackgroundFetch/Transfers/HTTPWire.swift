import NIOCore
import NIOHTTP1
import NIOSSL
import NIOTLS

/// One request and its reply on a channel of their own.
struct HTTPWire: Sendable {
    let channel: any Channel
    private let parts: NIOLoopBound<ReplyParts>

    /// Takes a channel that was just connected; to be called on its loop.
    ///
    /// - Parameters:
    ///   - tls: `nil` for a connection without it.
    ///   - handshakeTime: for TLS to come about.
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

    /// Returns when the kernel has it.
    func send(_ part: HTTPClientRequestPart) async throws {
        try await channel.writeAndFlush(part).get()
    }

    /// The first of all parts.
    func head() async throws -> HTTPResponseHead {
        guard case .head(let head) = try await next() else { throw HTTPParserError.invalidEOFState }
        return head
    }

    /// What comes behind the head; to be asked for once.
    var body: ReplyBody { ReplyBody(wire: self) }

    fileprivate func next() async throws -> HTTPClientResponsePart {
        try await channel.eventLoop.flatSubmit { [parts] in parts.value.next() }.get()
    }
}

/// The bytes of a reply, as they come.
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

/// The parts of a reply, one at a time. Nothing is read before somebody waits for it, but for the rest of a connection whose end has
/// come: what this process has taken from the kernel, and not used, is lost when it is killed.
private final class ReplyParts: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let loop: any EventLoop
    /// `nil` without TLS.
    private let handshakeTime: TimeAmount?
    private var handshakeLimit: Scheduled<Void>?
    private var context: ChannelHandlerContext?
    /// Those that came with the last one.
    private var parts: CircularBuffer<HTTPClientResponsePart> = []
    private var waiting: EventLoopPromise<HTTPClientResponsePart>?
    private var failure: (any Error)?
    private var isReadHeld = false

    init(on loop: any EventLoop, handshakeTime: TimeAmount?) { (self.loop, self.handshakeTime) = (loop, handshakeTime) }

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
        // Of a channel that is closed while it becomes active nothing else is heard.
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
        // Behind an error the parser takes the end of the connection for that of a body without a length.
        guard failure == nil else { return }
        parts.append(unwrapInboundIn(data))
        guard let waiting else { return }
        self.waiting = nil
        waiting.succeed(parts.removeFirst())
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // So it does where we end it.
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

    private func fail(_ error: any Error) {
        handshakeLimit?.cancel()
        failure = failure ?? error
        waiting?.fail(error)
        waiting = nil
    }
}
