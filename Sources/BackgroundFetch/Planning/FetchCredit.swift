package import BackgrounderAPI

/// The number of planned runs a day that a source earns: more if its runs are short, fewer if they exceed their budget
/// or bring nothing new.
///
///     var credit = FetchCredit()
///     credit.record(.noData)
///     let runs = credit.runsPerDay(durations: lastTwenty, killsOfDay: 0)
package struct FetchCredit: Codable, Hashable, Sendable {
    /// Planned runs in a row without new data.
    private var barren = 0
    /// Runs a day by which the plan is reduced.
    package private(set) var dropped = 0

    /// Creates a credit for a source that has not run yet.
    package init() {}

    /// Records the result of a planned run.
    ///
    /// Every two in a row without new data reduce the plan by one run a day; new data restores one. Failures change
    /// nothing, because they do not show whether there is new data.
    package mutating func record(_ result: FetchResult) {
        switch result {
        case .newData:
            barren = 0
            dropped = max(0, dropped - 1)
        case .noData:
            barren += 1
            guard barren >= Tuning.patience else { return }
            barren = 0
            dropped = min(dropped + 1, Tuning.most)
        case .failed: break
        }
    }

    /// Returns the number of runs for the plan of a day.
    ///
    /// - Parameters:
    ///   - durations: seconds of the last runs (20 are enough), in any order, also of those that exceeded their budget.
    ///   - kills: how many of these exceeded their budget.
    ///   - killsOfDay: how many runs exceeded their budget in the last 24 hours.
    ///   - budget: seconds; the assumed duration as long as `durations` is empty.
    package func runsPerDay(durations: [Double], kills: Int = 0, killsOfDay: Int, budget: Double = 30) -> Int {
        let earned = Self.earned(durations: durations, kills: kills, budget: budget)
        // Keep at least half, so that new data is noticed.
        let wanted = earned - min(dropped, earned / 2)
        return killsOfDay > 0 ? max(wanted / 2, Tuning.leastAfterKill) : wanted
    }

    /// Returns the number of runs a day that fit in the allowed running time.
    private static func earned(durations: [Double], kills: Int, budget: Double) -> Int {
        let known = durations.filter { $0.isFinite && $0 >= 0 }.sorted()
        let typical: Double
        if known.isEmpty {
            typical = budget
        } else {
            // The killed runs were the longest; each counts three times its duration.
            let costs = known.enumerated().map { index, duration in
                index >= known.count - kills ? duration * Tuning.killCost : duration
            }
            typical = costs[min(costs.count - 1, costs.count * 9 / 10)]
        }
        let runs = Tuning.secondsOfDay / max(typical, 0.001)
        return Int(min(max(runs, Tuning.least), Tuning.greatest))
    }

    /// Tuned: a source that takes 5 seconds runs every half hour, and one that takes 30 seconds every three hours.
    enum Tuning {
        /// Running time in seconds a day.
        static let secondsOfDay = 240.0
        /// Bounds of the runs a day.
        static let least = 4.0
        static let greatest = 48.0
        /// The factor for the duration of a killed run.
        static let killCost = 3.0
        /// The minimum of runs a day after a run was killed.
        static let leastAfterKill = 2
        /// Runs in a row without new data that reduce the plan by one run.
        static let patience = 2
        /// The maximum of ``dropped``.
        static let most = 24
    }
}
