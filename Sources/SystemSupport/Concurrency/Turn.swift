import Synchronization

/// A turn for a section of an actor's code that awaits: one caller at a time, in the order of their calls.
///
/// Actor isolation alone does not keep callers apart that await the disk between their steps. Any task may use it.
///
///     await turn.begin()
///     defer { turn.end() }
package final class Turn: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Creates a free turn.
    package init() {}

    /// Waits until no other caller has the turn. Pair with ``end()``.
    package func begin() async {
        guard !take(orAwait: nil) else { return }
        // Other jobs of the actor may run before this closure, so it looks again.
        await withCheckedContinuation { continuation in
            if take(orAwait: continuation) { continuation.resume() }
        }
    }

    /// Takes the turn if it is free. Otherwise `continuation` gets it after those that wait.
    private func take(orAwait continuation: CheckedContinuation<Void, Never>?) -> Bool {
        state.withLock { state in
            guard state.isTaken else {
                state.isTaken = true
                return true
            }
            if let continuation { state.waiting.append(continuation) }
            return false
        }
    }

    /// Ends the caller's turn and begins that of the caller that has waited longest.
    package func end() {
        let next = state.withLock { state in
            if state.waiting.isEmpty {
                state.isTaken = false
                return nil as CheckedContinuation<Void, Never>?
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
