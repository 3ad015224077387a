import NIOCore
import Synchronization

/// A timer that ends a connection after too long without a line. All methods may be called from any thread.
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

    /// Starts the time in which the client must send a line.
    func begin() {
        state.withLock { state in
            guard !state.isOver else { return }
            state.scheduled?.cancel()
            state.scheduled = loop.scheduleTask(in: limit, end)
        }
    }

    /// Stops the time until the next ``begin()``.
    func pause() {
        state.withLock { state in
            state.scheduled?.cancel()
            state.scheduled = nil
        }
    }

    /// Stops the time for good, because the connection is over.
    func finish() {
        state.withLock { state in
            state.scheduled?.cancel()
            state = State(isOver: true)
        }
    }
}
