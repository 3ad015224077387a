import Dispatch
import Synchronization
import SystemSupport

/// A timer that runs an action once, `interval` after the first request, and retries it while it fails. An idle timer
/// causes no wakeups.
final class SyncTimer: Sendable {
    private enum State {
        case idle
        /// The timer is running; `retry` is the delay before the next attempt if the action fails.
        case waiting(retry: Duration)
        case cancelled
    }

    // Tuned: short enough to notice soon that the disk works again, long enough to cost next to nothing.
    private static let firstRetry = Duration.seconds(1)
    private static let lastRetry = Duration.seconds(5)

    private let interval: Duration
    private let queue = DispatchQueue(label: "backgrounder.store.sync")
    private let state = Mutex(State.idle)
    private let action: @Sendable () -> Bool

    /// Creates an idle timer.
    ///
    /// - Parameter action: runs on the timer's own serial queue; returns whether it succeeded.
    init(interval: Duration, action: @escaping @Sendable () -> Bool) {
        self.interval = interval
        self.action = action
    }

    /// Starts the timer unless it is already running. May be called from any thread.
    ///
    /// - Parameter delay: the delay to use in place of the interval.
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
            // A write during the action starts the timer again.
            state = .idle
            return retry
        }
        if let retry, !action() { wait(for: retry, retry: min(retry * 2, Self.lastRetry)) }
    }

    /// Stops the timer: waits for an action that is running, and lets no other begin.
    ///
    /// - Returns: whether a request was still pending.
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
