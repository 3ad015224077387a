import BackgrounderAPI
import Dispatch
import Synchronization

/// Runs an action once, an interval after something first waited for it; idle, it costs nothing.
final class SyncTimer: Sendable {
    private struct State {
        var isWaiting = false
        var isCancelled = false
    }

    private let interval: Duration
    private let queue = DispatchQueue(label: "backgrounder.store.sync")
    private let state = Mutex(State())
    private let action: @Sendable () -> Void

    /// `action` runs on a serial queue of its own.
    init(interval: Duration, action: @escaping @Sendable () -> Void) {
        self.interval = interval
        self.action = action
    }

    func somethingWaits() {
        let begins = state.withLock { state in
            guard !state.isWaiting, !state.isCancelled else { return false }
            state.isWaiting = true
            return true
        }
        guard begins else { return }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + .milliseconds(Int(interval.milliseconds)))
        timer.setEventHandler { [self] in
            timer.cancel()
            let isDue = state.withLock { state in
                defer { state.isWaiting = false }
                return state.isWaiting && !state.isCancelled
            }
            if isDue { action() }
        }
        timer.activate()
    }

    /// No action begins after this. True when something was waiting for one.
    func cancel() -> Bool {
        queue.sync {
            state.withLock { state in
                state.isCancelled = true
                return state.isWaiting
            }
        }
    }
}
