import BackgrounderAPI
import Dispatch
import Synchronization

/// Runs an action once, an interval after something first waited for it, and again while it fails; idle, it costs nothing.
final class SyncTimer: Sendable {
    private enum State {
        case idle
        /// The action runs when the timer fires; `retry` is the delay before the next attempt should it fail.
        case waiting(retry: Duration)
        case cancelled
    }

    // Tuned: often enough that a disk that works again is noticed soon, and rare enough to cost nothing.
    private static let firstRetry = Duration.seconds(1)
    private static let lastRetry = Duration.seconds(5)

    private let interval: Duration
    private let queue = DispatchQueue(label: "backgrounder.store.sync")
    private let state = Mutex(State.idle)
    private let action: @Sendable () -> Bool

    /// - Parameter action: runs on a serial queue of its own; returns whether it succeeded.
    init(interval: Duration, action: @escaping @Sendable () -> Bool) {
        self.interval = interval
        self.action = action
    }

    /// Begins to wait unless the timer runs already.
    ///
    /// - Parameter delay: instead of the interval.
    func somethingWaits(for delay: Duration? = nil) {
        wait(for: delay ?? interval, retry: Self.firstRetry)
    }

    private func wait(for delay: Duration, retry: Duration) {
        let begins = state.withLock { state in
            guard case .idle = state else { return false }
            state = .waiting(retry: retry)
            return true
        }
        guard begins else { return }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + .milliseconds(Int(delay.milliseconds)))
        timer.setEventHandler { [self] in
            timer.cancel()
            fire()
        }
        timer.activate()
    }

    private func fire() {
        let retry: Duration? = state.withLock { state in
            guard case .waiting(let retry) = state else { return nil }
            // What is written while the action runs waits for the next one.
            state = .idle
            return retry
        }
        if let retry, !action() { wait(for: retry, retry: min(retry * 2, Self.lastRetry)) }
    }

    /// No action begins after this. True when something was waiting for one.
    func cancel() -> Bool {
        queue.sync {
            state.withLock { state in
                defer { state = .cancelled }
                if case .waiting = state { return true }
                return false
            }
        }
    }
}
