package import BackgrounderAPI

/// How many planned runs a day a source has earned: quick ones more, late ones fewer, and fewer when they bring nothing.
///
///     var credit = FetchCredit()
///     credit.record(.noData)
///     let runs = credit.runsPerDay(durations: lastTwenty, killsOfDay: 0)
package struct FetchCredit: Codable, Hashable, Sendable {
    /// Planned runs in a row that brought nothing.
    private var barren = 0
    /// Slots that are left out of the plan.
    package private(set) var dropped = 0

    package init() {}

    /// Takes the result of a planned run: two without new data in a row leave the plan's cheapest slot out, new data takes one
    /// back in. Failures say nothing about whether there is news.
    package mutating func record(_ result: FetchResult) {
        switch result {
        case .newData:
            barren = 0
            dropped = max(0, dropped - 1)
        case .noData:
            barren += 1
            guard barren >= Judgement.patience else { return }
            barren = 0
            dropped = min(dropped + 1, Judgement.most)
        case .failed: break
        }
    }

    /// Runs for a day's plan.
    ///
    /// - Parameters:
    ///   - durations: seconds of the last runs (20 are enough), in any order; a killed one with what it took.
    ///   - kills: how many of those were ended at their budget.
    ///   - killsOfDay: how many runs were ended so in the last 24 hours.
    ///   - budget: seconds; what a run is taken to need before the first one is known.
    package func runsPerDay(durations: [Double], kills: Int = 0, killsOfDay: Int, budget: Double = 30) -> Int {
        let earned = Self.earned(durations: durations, kills: kills, budget: budget)
        // At most half is left out, so that news is found again.
        let wanted = earned - min(dropped, earned / 2)
        return killsOfDay > 0 ? max(wanted / 2, Judgement.leastAfterKill) : wanted
    }

    private static func earned(durations: [Double], kills: Int, budget: Double) -> Int {
        let known = durations.filter { $0.isFinite && $0 >= 0 }.sorted()
        let typical: Double
        if known.isEmpty {
            typical = budget
        } else {
            // The killed ones were the longest, and cost three times what they took.
            let costs = known.enumerated().map { index, duration in
                index >= known.count - kills ? duration * Judgement.killCost : duration
            }
            typical = costs[min(costs.count - 1, costs.count * 9 / 10)]
        }
        let runs = Judgement.secondsOfDay / max(typical, 0.001)
        return Int(min(max(runs, Judgement.least), Judgement.greatest))
    }

    /// judgement: a source of 5 seconds gets a run each half an hour, one that needs all of its 30 seconds each three hours.
    enum Judgement {
        /// Seconds of running a day.
        static let secondsOfDay = 240.0
        static let least = 4.0
        static let greatest = 48.0
        static let killCost = 3.0
        static let leastAfterKill = 2
        /// Runs without news after which a slot is dropped.
        static let patience = 2
        static let most = 24
    }
}
