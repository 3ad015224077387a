import Synchronization
import TestSupport

/// A clock whose sleeps are shorter than asked for, and recorded.
final class QuickClock: Clock {
    private let factor: Int
    private let state = Mutex<(asked: [Duration], ended: [Duration])>(([], []))
    private let signal = Signal()

    init(factor: Int) { self.factor = factor }

    /// The sleeps that have begun.
    var sleeps: [Duration] { state.withLock(\.asked) }

    var now: ContinuousClock.Instant { .now }
    var minimumResolution: Duration { .milliseconds(1) }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        let asked = deadline - now
        // Rounded, since some time has passed since the deadline was computed.
        let length = Duration.milliseconds(Int((asked / .milliseconds(1)).rounded()))
        state.withLock { $0.asked.append(length) }
        try await ContinuousClock().sleep(for: asked / factor)
        state.withLock { $0.ended.append(length) }
        signal.post()
    }

    /// Returns once a sleep of about this length has ended.
    func wait(forSleepOf length: Duration) async throws {
        _ = try await signal.wait(for: "a sleep of \(length)", within: 60) {
            let isOver = state.withLock { $0.ended.contains { abs($0 / length - 1) < 0.01 } }
            return isOver ? true : nil
        }
    }
}
