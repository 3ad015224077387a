import NIOCore
import NIOHTTPTypes

/// Closes a connection on which no whole request arrives for `limit`, whatever trickles in meanwhile, and one that is still
/// there a little after the server began to stop: a response to a reader that does not read has no other end.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limit: TimeAmount
    private var timeout: Scheduled<Void>?
    /// Whole requests whose responses are not at their end; below 0 while a request that was refused early still arrives.
    private var unanswered = 0

    init(limit: Duration) {
        self.limit = TimeAmount(limit)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { start(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stop()
    }

    func channelActive(context: ChannelHandlerContext) {
        start(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
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
            // judgement: time for what lies ready, and little of the 2 s of a stop
            context.eventLoop.scheduleTask(in: .milliseconds(300)) { channel.close(promise: nil) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func count(_ change: Int, _ context: ChannelHandlerContext) {
        unanswered += change
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
