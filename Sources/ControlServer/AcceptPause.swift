import Glibc
import NIOCore

/// Sits on the listening socket: when the process has no descriptor for a new connection, one that is not in use is closed, and
/// accepting goes on after a moment. Without this, the event loop would try again and again without a pause.
final class AcceptPause: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias OutboundIn = Never

    /// Until a connection that gives way is closed.
    private static let shortPause = TimeAmount.milliseconds(5)
    /// judgement: where all are in use, until one ends by itself
    private static let longPause = TimeAmount.milliseconds(100)

    private let seats: Seats
    private var isPaused = false
    /// Kept open for nothing, so that it can be given up when no other descriptor is left.
    private var spare = AcceptPause.openSpare()

    init(seats: Seats) {
        self.seats = seats
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode) else {
            return context.fireErrorCaught(error)
        }
        let pause = seats.displaceOne() ? Self.shortPause : Self.longPause
        // Whoever waits is let in with it, and gets an answer or a seat.
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
