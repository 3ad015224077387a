import Glibc
import ServiceLifecycle

/// Notifies systemd's watchdog while the service works (sd_notify(3), sd_watchdog_enabled(3)).
///
///     if let heartbeat = Heartbeat(environment: environment, clock: clock, check: answers) { services.append(heartbeat) }
///
/// Each beat follows a `check` that returned: if a part hangs, the beats stop and systemd restarts the service.
struct Heartbeat: Service {
    private let environment: [String: String]
    private let interval: Duration
    private let clock: any Clock<Duration>
    private let check: @Sendable () async -> Void

    /// Creates a heartbeat; returns `nil` if systemd does not watch this process.
    ///
    /// - Parameter check: returns when every essential part has answered.
    init?(environment: [String: String], clock: any Clock<Duration>, check: @escaping @Sendable () async -> Void) {
        guard let limit = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }), limit > 0,
            environment["WATCHDOG_PID"].map({ $0 == String(getpid()) }) ?? true
        else { return nil }
        self.environment = environment
        self.clock = clock
        self.check = check
        // As sd_watchdog_enabled(3) recommends.
        interval = .microseconds(limit) / 2
    }

    func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await check()
                Readiness.notifySystemd("WATCHDOG=1", environment: environment)
                guard (try? await clock.sleep(for: interval)) != nil else { return }
            }
        }
    }
}
