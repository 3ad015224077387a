import BackgrounderAPI
import Synchronization
import SystemSupport

/// Probes whether drivers open, each on its own thread, because a sound server may never respond.
///
/// Only one probe per driver runs at a time, and further callers wait for its result. So a server that hangs costs one
/// thread and one connection, however often it is probed.
final class DriverProbes: Sendable {
    private struct State {
        /// The waiting callers by driver; a driver with an entry is being probed.
        var waiting: [String: [Int: CheckedContinuation<[AudioDevice]?, Never>]] = [:]
        var next = 0
    }
    private let state = Mutex(State())
    private let clock: any Clock<Duration>

    init(clock: any Clock<Duration>) { self.clock = clock }

    /// Returns the devices that `probe` finds. Returns nil if it cannot open the driver, or takes longer than `limit`.
    /// `probe` may block forever.
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
