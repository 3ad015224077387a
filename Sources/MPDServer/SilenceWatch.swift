import NIOCore
import Synchronization

/// Ends a connection on which no line came for too long. Any thread.
final class SilenceWatch: Sendable {
    private struct State {
        var scheduled: Scheduled<Void>?
        var isOver = false
    }

    private let limit: TimeAmount
    private let loop: any EventLoop
    private let end: @Sendable () -> Void
    private let state = Mutex(State())

    init(_ limit: Duration, on loop: any EventLoop, _ end: @escaping @Sendable () -> Void) {
        self.limit = TimeAmount(limit)
        self.loop = loop
        self.end = end
    }

    /// The client is to say something, from now on within the limit.
    func begin() {
        state.withLock { state in
            guard !state.isOver else { return }
            state.scheduled?.cancel()
            state.scheduled = loop.scheduleTask(in: limit, end)
        }
    }

    /// Until the next ``begin()`` the client may be silent.
    func pause() {
        state.withLock { state in
            state.scheduled?.cancel()
            state.scheduled = nil
        }
    }

    /// The connection is over.
    func finish() {
        state.withLock { state in
            state.scheduled?.cancel()
            state = State(isOver: true)
        }
    }
}
