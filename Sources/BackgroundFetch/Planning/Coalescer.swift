package import FoundationEssentials

/// A run that waits for its time.
package struct WaitingRun: Hashable, Sendable {
    package var source: String
    /// Of its URL; `nil` for a command.
    package var host: String?
    package var window: FlexWindow
    /// Seconds after which it runs again; `nil` where that is not known.
    package var interval: Double?

    package init(source: String, host: String?, window: FlexWindow, interval: Double? = nil) {
        self.source = source
        self.host = host
        self.window = window
        self.interval = interval
    }
}

/// Lets runs share wakeups: the service wakes up at the first deadline at the latest, and whatever wakes it up, every run whose
/// window is open goes along.
///
/// Always waiting for the deadline is the best for the next wakeup, but sources whose intervals are multiples of each other
/// then pass each other for ever. So a few earlier moments are tried too: for each it plays the next hours through, and takes
/// the one with the fewest wakeups, the latest of those.
package enum Coalescer {
    /// Runs at once; one a host.
    package static let limit = 4

    /// When the service should wake up for the runs alone; `nil` for none.
    ///
    /// Every run whose window is open then is to be begun: perhaps none of them has reached its deadline.
    package static func nextWakeup(_ waiting: some Sequence<WaitingRun>, from now: Date) -> Date? {
        let runs = waiting.map { Future($0, from: now) }
        guard let deadline = runs.map(\.deadline).min(), let earliest = runs.map(\.earliest).min() else { return nil }
        let first = max(0, earliest)
        guard runs.count > 1, deadline > first, deadline < Judgement.horizon else {
            return now.addingTimeInterval(max(0, deadline))
        }
        var best = (wakeups: Future.wakeups(runs, first: deadline, atMost: .max), at: deadline)
        for trial in Judgement.trials {
            let time = first + (deadline - first) * trial
            let wakeups = Future.wakeups(runs, first: time, atMost: best.wakeups)
            if wakeups < best.wakeups { best = (wakeups, time) }
        }
        return now.addingTimeInterval(best.at)
    }

    /// When a wakeup for something else first finds a run to take along; `nil` for none.
    ///
    /// What happens often compares the clock with it and looks no further.
    package static func nextRide(_ waiting: some Sequence<WaitingRun>) -> Date? {
        waiting.lazy.map(\.window.earliest).min()
    }

    /// The runs to begin now, in the order of their deadlines: those whose windows are open, as far as there is room.
    ///
    /// The others wait for the end of a run; ask again then.
    ///
    /// - Parameter running: the hosts of the runs that are under way, `nil` for commands.
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

    /// A run and those of its source that follow, in seconds from now on.
    private struct Future {
        var earliest: Double
        var deadline: Double
        let interval: Double?

        init(_ run: WaitingRun, from now: Date) {
            earliest = run.window.earliest.timeIntervalSince(now)
            deadline = run.window.deadline.timeIntervalSince(now)
            interval = run.interval
        }

        /// How often the runs wake the service up when it waits for the deadline each time but the first; `limit` where that is
        /// not less.
        static func wakeups(_ runs: [Future], first: Double, atMost limit: Int) -> Int {
            var (runs, time, count) = (runs, first, 0)
            while time < Judgement.horizon, count < limit {
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

    /// judgement: more hours or more moments save no more wakeups.
    private enum Judgement {
        /// Seconds that are played through.
        static let horizon = 6.0 * 3600
        /// Shares of the way from the first open window to the first deadline, the latest first.
        static let trials = [0.75, 0.5, 0.25, 0]
    }
}
