package import FoundationEssentials

/// A run that has not begun yet.
package struct WaitingRun: Hashable, Sendable {
    /// The name of the source.
    package var source: String
    /// The host in the URL of the source; `nil` for a command.
    package var host: String?
    package var window: FlexWindow
    /// Seconds until the next run of the source; `nil` if unknown.
    package var interval: Double?

    /// Creates a run of `source`, which may begin in `window`.
    package init(source: String, host: String?, window: FlexWindow, interval: Double? = nil) {
        self.source = source
        self.host = host
        self.window = window
        self.interval = interval
    }
}

/// Lets runs share wakeups.
///
/// The service wakes up at the first deadline at the latest. At every wakeup, including those for other reasons, all
/// runs with open windows begin.
///
/// Waiting for the deadline is best for the next wakeup, but sources with intervals that are multiples of each other
/// may then never meet. So some earlier times are tried too: the coalescer simulates the next hours for each and
/// chooses the one with the fewest wakeups, and the latest if several have as few.
package enum Coalescer {
    /// The maximum number of concurrent runs; at most one for each host.
    package static let limit = 4

    /// Returns when the service should wake up if nothing else wakes it; `nil` if no run waits.
    ///
    /// All runs with open windows should begin at that time, even if none of them has reached its deadline.
    package static func nextWakeup(_ waiting: some Sequence<WaitingRun>, from now: Date) -> Date? {
        let runs = waiting.map { Future($0, from: now) }
        guard let deadline = runs.map(\.deadline).min(), let earliest = runs.map(\.earliest).min() else { return nil }
        let first = max(0, earliest)
        guard runs.count > 1, deadline > first, deadline < Tuning.horizon else {
            return now.addingTimeInterval(max(0, deadline))
        }
        var best = (wakeups: Future.wakeups(runs, first: deadline, atMost: .max), at: deadline)
        for trial in Tuning.trials {
            let time = first + (deadline - first) * trial
            let wakeups = Future.wakeups(runs, first: time, atMost: best.wakeups)
            if wakeups < best.wakeups { best = (wakeups, time) }
        }
        return now.addingTimeInterval(best.at)
    }

    /// Returns the first time at which a run can share a wakeup; `nil` if no run waits.
    ///
    /// Before that time, frequent events such as fixes need to check nothing but the clock.
    package static func nextRide(_ waiting: some Sequence<WaitingRun>) -> Date? {
        waiting.lazy.map(\.window.earliest).min()
    }

    /// Returns the runs to begin now, in the order of their deadlines: those with open windows, within ``limit``.
    ///
    /// The others must wait until a run ends; call this again then.
    ///
    /// - Parameter running: the hosts of the current runs, `nil` for commands.
    package static func runs(
        _ waiting: some Sequence<WaitingRun>,
        at now: Date,
        running: [String?] = []
    ) -> [WaitingRun] {
        var hosts = Set(running.compactMap(\.self))
        var room = limit - running.count
        let open = waiting.filter { $0.window.isOpen(at: now) }
            .sorted { ($0.window.deadline, $0.source) < ($1.window.deadline, $1.source) }
        return open.filter { run in
            guard room > 0, run.host.map({ hosts.insert($0).inserted }) ?? true else { return false }
            room -= 1
            return true
        }
    }

    /// A run and the later runs of its source. Times are seconds from now.
    private struct Future {
        var earliest: Double
        var deadline: Double
        let interval: Double?

        init(_ run: WaitingRun, from now: Date) {
            earliest = run.window.earliest.timeIntervalSince(now)
            deadline = run.window.deadline.timeIntervalSince(now)
            interval = run.interval
        }

        /// Returns the number of wakeups until the horizon if the first is at `first`, and each further one at the next
        /// deadline. Stops counting at `limit`.
        static func wakeups(_ runs: [Future], first: Double, atMost limit: Int) -> Int {
            var (runs, time, count) = (runs, first, 0)
            while time < Tuning.horizon, count < limit {
                count += 1
                var next = Double.infinity
                for index in runs.indices {
                    if runs[index].earliest <= time {
                        let interval = runs[index].interval ?? .infinity
                        runs[index].earliest = time + interval
                        runs[index].deadline = time + interval + FlexWindow.slack(interval)
                    }
                    next = min(next, runs[index].deadline)
                }
                time = next
            }
            return count
        }
    }

    /// Tuned: neither more hours nor more trials save more wakeups.
    private enum Tuning {
        /// Seconds to simulate.
        static let horizon = 6.0 * 3600
        /// The times to try, as shares of the time from the first open window to the first deadline; the latest first.
        static let trials = [0.75, 0.5, 0.25, 0]
    }
}
