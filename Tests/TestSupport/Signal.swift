import Dispatch
import Synchronization

/// Lets a test wait for a condition that other threads fulfil, with a deadline and without polling.
package final class Signal: Sendable {
    private struct State {
        var generation = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Wakes every waiting test, which then checks its condition again.
    package func post() {
        let waiting = state.withLock { state in
            state.generation += 1
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns what `look` finds. Calls it again after each ``post()``; throws if the deadline passes first.
    package func wait<Value>(
        for what: String,
        within seconds: Double = 60,
        _ look: () async throws -> Value?
    ) async throws -> Value {
        let deadline = DispatchTime.now() + seconds
        let timer = DispatchSource.makeTimerSource(queue: .global())
        timer.schedule(deadline: deadline)
        timer.setEventHandler { [self] in post() }
        timer.resume()
        defer { timer.cancel() }
        while true {
            let generation = state.withLock { $0.generation }
            if let value = try await look() { return value }
            if DispatchTime.now() >= deadline { throw DeadlinePassed(what: what, seconds: seconds) }
            await withCheckedContinuation { continuation in
                let isLate = state.withLock { state in
                    if state.generation == generation { state.waiting.append(continuation) }
                    return state.generation != generation
                }
                if isLate { continuation.resume() }
            }
        }
    }
}

/// A condition that was not met in time.
package struct DeadlinePassed: Error, CustomStringConvertible {
    package var what: String
    package var seconds: Double
    /// The newest of the lines in which it was looked for.
    package var lastLine: String?
    package var description: String {
        "no \(what) within \(seconds) s" + (lastLine.map { "; the last line is \($0.debugDescription)" } ?? "")
    }
}
