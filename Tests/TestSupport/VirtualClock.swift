import Synchronization

/// A clock that stands still until a test moves it.
package final class VirtualClock: Clock {
    package struct Instant: InstantProtocol {
        /// Since the clock's zero.
        package var offset: Duration

        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now: Instant
        var lastID = 0
        var sleepers: [Int: (deadline: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var cancelled: Set<Int> = []
    }

    private let state: Mutex<State>
    private let changed = Signal()

    package init(_ now: Duration = .zero) { state = Mutex(State(now: Instant(offset: now))) }

    package var now: Instant { state.withLock { $0.now } }
    package var time: Duration { now.offset }
    package var seconds: Double { time / .seconds(1) }
    package var minimumResolution: Duration { .nanoseconds(1) }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    if deadline <= state.now { return .success(()) }
                    state.sleepers[id] = (deadline, continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
                changed.post()
            }
        } onCancel: {
            let continuation = state.withLock { state in
                if state.sleepers[id] == nil { state.cancelled.insert(id) }
                return state.sleepers.removeValue(forKey: id)?.continuation
            }
            continuation?.resume(throwing: CancellationError())
            changed.post()
        }
    }

    /// The wake-up times of the sleeping tasks in seconds since the clock's zero, in order.
    package var timers: [Double] {
        state.withLock { $0.sleepers.values.map { $0.deadline.offset / .seconds(1) }.sorted() }
    }

    /// Advances the clock by `duration` and wakes the tasks whose time has come.
    package func advance(by duration: Duration) { move { $0.advanced(by: duration) } }

    /// Moves the clock forward or back to `seconds` since its zero, and wakes the tasks whose time has come.
    package func advance(to seconds: Double) { move { _ in Instant(offset: .seconds(seconds)) } }

    private func move(_ change: (Instant) -> Instant) {
        let due = state.withLock { state in
            state.now = change(state.now)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.sorted { $0.deadline < $1.deadline }.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// Returns once a task sleeps until exactly `duration` from now.
    package func waitForSleeper(_ duration: Duration) async throws {
        try await changed.wait(for: "sleeper for \(duration)") {
            state.withLock { state in
                state.sleepers.values.contains { $0.deadline == state.now.advanced(by: duration) } ? () : nil
            }
        }
    }

    /// Returns once `condition` accepts the ``timers``. It is checked again whenever a task falls asleep or wakes up.
    package func wait(for what: String, _ condition: ([Double]) async throws -> Bool) async throws {
        try await changed.wait(for: what) { try await condition(timers) ? () : nil }
    }

    /// Returns once a task sleeps.
    package func waitForTimer() async throws {
        try await changed.wait(for: "a sleeper") { timers.isEmpty ? nil : () }
    }

    /// Returns once a task sleeps until `seconds`, within 0.1.
    package func wait(forTimerAt seconds: Double) async throws {
        do {
            try await changed.wait(for: "timer at \(seconds) s") {
                timers.contains { abs($0 - seconds) < 0.1 } ? () : nil
            }
        } catch {
            throw WrongTimers(expected: seconds, timers: timers)
        }
    }

    /// Returns once no task sleeps.
    package func waitForNoTimer() async throws {
        try await changed.wait(for: "end of all timers") { timers.isEmpty ? () : nil }
    }

    /// Moves the clock just past the earliest timer once that is at `seconds`, within 0.1.
    package func advance(toTimerAt seconds: Double) async throws {
        do {
            let earliest = try await changed.wait(for: "earliest timer at \(seconds) s") {
                timers.first.flatMap { abs($0 - seconds) < 0.1 ? $0 : nil }
            }
            advance(to: earliest + 0.001)
        } catch {
            throw WrongTimers(expected: seconds, timers: timers)
        }
    }
}

package struct WrongTimers: Error, CustomStringConvertible {
    var expected: Double
    var timers: [Double]
    package var description: String { "no timer at \(expected) s, but at \(timers)" }
}
