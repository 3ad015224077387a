import Glibc
import NIOCore

/// A handler on the listening socket for the case that the process has no descriptor left: it closes an unused connection and pauses
/// accepting for a moment. Otherwise the event loop would retry without a pause.
final class AcceptPause: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias OutboundIn = Never

    /// The time until a displaced connection is closed.
    private static let shortPause = TimeAmount.milliseconds(5)
    /// Tuned: if all connections are in use, the time until one may have ended.
    private static let longPause = TimeAmount.milliseconds(100)

    private let slots: ConnectionSlots
    private var isPaused = false
    /// A spare descriptor that can be closed when no other is left.
    private var spare = AcceptPause.openSpare()

    init(slots: ConnectionSlots) {
        self.slots = slots
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode) else {
            return context.fireErrorCaught(error)
        }
        let pause = slots.displaceOne() ? Self.shortPause : Self.longPause
        // The waiting connection is accepted with it, and gets an error or a slot.
        if spare >= 0 { Glibc.close(spare) }
        spare = -1
        guard !isPaused else { return }
        isPaused = true
        context.eventLoop.assumeIsolated().scheduleTask(in: pause) { [self] in
            isPaused = false
            context.read()
        }
    }

    func read(context: ChannelHandlerContext) {
        if isPaused { return }
        if spare < 0 { spare = Self.openSpare() }
        context.read()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        if spare >= 0 { Glibc.close(spare) }
    }

    private static func openSpare() -> CInt { open("/dev/null", O_RDONLY | O_CLOEXEC) }
}
