import BackgrounderAPI
import FoundationEssentials
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// The handler of one connection: it acquires a slot, reports how the connection is used, and closes it.
///
/// It closes a connection that sends no whole request within `limit`, one whose browser has closed it, and one that is still open shortly
/// after the server began to stop, because a response to a reader that does not read has no other end.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limit: TimeAmount
    private let slots: ConnectionSlots
    private let identify: (ChannelHandlerContext) -> ConnectionOpener?
    private var owner: ConnectionOpener.Owner?
    private var timeout: Scheduled<Void>?
    /// Whole requests without a complete response; negative while a request that was refused early still arrives.
    private var unanswered = 0

    /// Creates a handler.
    ///
    /// - Parameter identify: returns who opened the connection; `nil` closes it.
    init(limit: Duration, slots: ConnectionSlots, identify: @escaping (ChannelHandlerContext) -> ConnectionOpener?) {
        self.limit = TimeAmount(limit)
        self.slots = slots
        self.identify = identify
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { begin(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stop()
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        slots.leave(context.channel)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .end = unwrapInboundIn(data) { count(1, context) }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { count(-1, context) }
        context.write(data, promise: promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent {
            let channel = context.channel
            // Tuned: time for data that is ready, and a small part of the 2 s that a stop may take.
            context.eventLoop.scheduleTask(in: .milliseconds(300)) { channel.close(promise: nil) }
        }
        // A browser that closes a connection looks like this until something is sent to it. Programs on the Unix socket may end their
        // direction and still wait for the reply.
        if case .inputClosed? = event as? ChannelEvent, case .host? = owner { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    private func begin(_ context: ChannelHandlerContext) {
        start(context)
        guard let opener = identify(context) else { return context.close(promise: nil) }
        owner = opener.owner
        if !slots.occupy(context.channel, for: opener) { refuse(context) }
    }

    /// Sends the reason before it closes the connection.
    private func refuse(_ context: ChannelHandlerContext) {
        let error = WireError(
            .unavailable,
            "too many connections",
            hint: "close some of them and try again"
        )
        let bytes = ByteBuffer(bytes: (try? JSON.encode(error)) ?? .init())
        var head = HTTPResponse(status: .serviceUnavailable)
        head.headerFields[.contentType] = "application/json"
        head.headerFields[.contentLength] = "\(bytes.readableBytes)"
        head.headerFields[.connection] = "close"
        head.headerFields[.backgrounderVersion] = Backgrounder.version
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(bytes)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(promise: nil)
    }

    private func count(_ change: Int, _ context: ChannelHandlerContext) {
        unanswered += change
        slots.use(context.channel, for: unanswered > 0 ? .inUse : .idle)
        if unanswered > 0 { stop() } else { start(context) }
    }

    private func start(_ context: ChannelHandlerContext) {
        timeout?.cancel()
        timeout = context.eventLoop.assumeIsolated().scheduleTask(in: limit) {
            context.close(promise: nil)
        }
    }

    private func stop() {
        timeout?.cancel()
        timeout = nil
    }
}
