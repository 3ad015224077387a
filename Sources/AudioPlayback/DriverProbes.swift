import BackgrounderAPI
import Synchronization

/// Asks whether drivers open, each on a thread of its own since a sound server may never answer.
///
/// One question about a driver is open at a time: who asks again waits for the same answer, so a server that is silent
/// costs one thread and one connection, however often it is asked.
final class DriverProbes: Sendable {
    private struct State {
        /// Those who wait, by driver; a driver that is in here is being asked.
        var waiting: [String: [Int: CheckedContinuation<[AudioDevice]?, Never>]] = [:]
        var next = 0
    }
    private let state = Mutex(State())
    private let clock: any Clock<Duration>

    init(clock: any Clock<Duration>) { self.clock = clock }

    /// The devices that `probe` found where it could open the driver; `nil` where it could not, and when there is no
    /// answer within `limit`. `probe` may block for ever.
    func ask(
        _ driver: String,
        within limit: Duration,
        _ probe: @escaping @Sendable () -> [AudioDevice]?
    ) async -> [AudioDevice]? {
        var timeout: Task<Void, Never>?
        defer { timeout?.cancel() }
        return await withCheckedContinuation { continuation in
            let (id, isFirst) = state.withLock { state in
                state.next += 1
                let isFirst = state.waiting[driver] == nil
                state.waiting[driver, default: [:]][state.next] = continuation
                return (state.next, isFirst)
            }
            let clock = clock
            timeout = Task {
                try? await clock.sleep(for: limit)
                self.state.withLock { $0.waiting[driver]?.removeValue(forKey: id) }?.resume(returning: nil)
            }
            guard isFirst else { return }
            do {
                try detachThread(named: "audio probe") { self.answered(driver, probe()) }
            } catch {
                answered(driver, nil)
            }
        }
    }

    private func answered(_ driver: String, _ devices: [AudioDevice]?) {
        let waiters = state.withLock { $0.waiting.removeValue(forKey: driver) ?? [:] }
        for waiter in waiters.values { waiter.resume(returning: devices) }
    }
}
