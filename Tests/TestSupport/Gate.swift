import Synchronization

/// Suspends its callers until it is opened or their task is cancelled.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var cancelled: Set<Int> = []
        var lastID = 0
    }

    private let state = Mutex(State())
    private let arrival = AsyncStream.makeStream(of: Void.self)

    package init() {}

    /// Returns once a caller has arrived. For one task.
    package func reached() async { for await _ in arrival.stream {} }

    /// Reports the caller's arrival and waits.
    package func pass() async {
        arrival.continuation.finish()
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let passes = state.withLock { state in
                    if state.isOpen || state.cancelled.contains(id) { return true }
                    state.waiting[id] = continuation
                    return false
                }
                if passes { continuation.resume() }
            }
        } onCancel: {
            state.withLock { state in
                state.cancelled.insert(id)
                return state.waiting.removeValue(forKey: id)
            }?.resume()
        }
    }

    package func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume() }
    }
}
