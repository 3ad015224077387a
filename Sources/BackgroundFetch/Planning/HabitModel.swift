import Glibc

/// A mixture of predictions of when a source is opened, weighted by how well each has predicted past days.
///
/// A prediction uses a histogram of the opens on all days, on working days or weekends, in every other week, or on one
/// weekday. It forgets fast or slowly, and smooths over minutes or hours. For each past day, each prediction is scored
/// by the likelihood of the opens of that day under a Poisson process with the predicted rates, before it learns from
/// them. The mixture therefore tells Saturdays from Mondays, adapts to shift work and changed hours within days, and
/// recognises a user without a habit.
///
/// This is Bayesian model averaging with forgetting (Raftery, Kárný and Ettler, Online prediction under model
/// uncertainty via dynamic model averaging, 2010).
struct HabitModel {
    /// The days that a prediction distinguishes: none, working days and weekends, the two weeks of a fortnight, or
    /// weekdays.
    private enum Scope: Int, CaseIterable {
        case all, kind, fortnight, weekday

        /// Returns the index of the histogram of this scope to which `day` belongs, below ``histograms``.
        func histogram(_ day: Int) -> Int {
            let weekday = LocalTime.weekday(ofDay: day)
            return switch self {
            case .all: 0
            case .kind: weekday == 0 || weekday == 6 ? 1 : 2
            // Weeks begin on Monday.
            case .fortnight: 3 + LocalTime.dayOfFortnight(day) / 7
            case .weekday: 5 + weekday
            }
        }

        static let histograms = 12
    }

    /// The histograms with one half-life and one amount of smoothing.
    private struct Manner {
        /// Days after which the weight of an open is halved.
        let halfLife: Double
        /// The standard deviation in slots of the Gaussian kernel.
        let spread: Double
        let kernel: [Double]
        /// Weighted days by histogram.
        var days = [Double](repeating: 0, count: Scope.histograms)
        /// Weighted opens by histogram and slot.
        var opens = [Double](repeating: 0, count: Scope.histograms * LocalTime.slotsOfDay)
        /// Weighted opens by histogram.
        var totals = [Double](repeating: 0, count: Scope.histograms)
        /// The score of the prediction of each scope: the discounted sum of log-likelihoods.
        var scores = [Double](repeating: 0, count: Scope.allCases.count)

        init(halfLife: Double, spread: Double) {
            self.halfLife = halfLife
            self.spread = spread
            let radius = Int((spread * 3).rounded(.up))
            let values = (-radius...radius).map { (offset: Int) -> Double in
                exp(-Double(offset * offset) / (2 * spread * spread))
            }
            let total = values.reduce(0, +)
            kernel = values.map { $0 / total }
        }

        /// Adds an open in `slot`, spread over the neighbouring slots.
        mutating func add(_ slot: Int, to histogram: Int, _ weight: Double) {
            let slots = LocalTime.slotsOfDay
            totals[histogram] += weight
            // Wrap around at midnight.
            var place = (slot - kernel.count / 2 + slots) % slots
            for share in kernel {
                opens[histogram * slots + place] += share * weight
                place += 1
                if place == slots { place = 0 }
            }
        }
    }

    private var manners: [Manner]
    private let today: Int

    /// - Parameter today: the local day from which the ages of opens count.
    init(today: Int) {
        self.today = today
        manners = Tuning.halfLives.flatMap { halfLife in
            Tuning.spreads.map { Manner(halfLife: halfLife, spread: $0) }
        }
    }

    /// Learns from a whole day.
    ///
    /// - Parameters:
    ///   - slots: the slots with an open.
    ///   - day: a local day; pass the days in ascending order.
    mutating func learn(_ slots: ArraySlice<Int>, of day: Int) {
        for index in manners.indices {
            for scope in Scope.allCases { score(scope, index, slots, of: day) }
            let weight = weight(index, of: day)
            for scope in Scope.allCases {
                let histogram = scope.histogram(day)
                manners[index].days[histogram] += weight
                for slot in slots { manners[index].add(slot, to: histogram, weight) }
            }
        }
    }

    /// Returns the expected opens in each slot of `day`.
    func rates(of day: Int) -> [Double] {
        var rates = [Double](repeating: 0, count: LocalTime.slotsOfDay)
        let best = manners.flatMap(\.scores).max() ?? 0
        let total = manners.flatMap(\.scores).reduce(0) { $0 + exp($1 - best) }
        for (index, manner) in manners.enumerated() {
            for scope in Scope.allCases {
                let share = exp(manner.scores[scope.rawValue] - best) / total
                guard share > 1e-4 else { continue }
                let guess = guess(scope, index, day)
                for slot in rates.indices { rates[slot] += share * guess.rate(slot, manner.opens) }
            }
        }
        return rates
    }

    /// Adds the log-likelihood of the opens of a day to the score of a prediction.
    private mutating func score(_ scope: Scope, _ index: Int, _ slots: ArraySlice<Int>, of day: Int) {
        let guess = guess(scope, index, day)
        var likelihood = -guess.total
        for slot in slots { likelihood += log(guess.rate(slot, manners[index].opens)) }
        let weight = exp2(-Double(today - day) / Tuning.scoreHalfLife)
        manners[index].scores[scope.rawValue] += weight * likelihood
    }

    /// Returns the weight of `day`, relative to that of ``today``.
    private func weight(_ index: Int, of day: Int) -> Double {
        exp2(Double(day - today) / manners[index].halfLife)
    }

    /// A prediction for one day: the rate of a slot is `constant + factor × opens`.
    private struct Guess {
        /// The start of its histogram in ``Manner/opens``.
        let offset: Int
        let factor: Double
        let constant: Double
        /// The sum of the rates of all slots.
        let total: Double

        /// Returns the expected opens in `slot`.
        func rate(_ slot: Int, _ opens: [Double]) -> Double {
            constant + factor * opens[offset + slot]
        }
    }

    /// Returns the prediction of a scope for `day`, smoothed by the prior.
    private func guess(_ scope: Scope, _ index: Int, _ day: Int) -> Guess {
        let manner = manners[index]
        let histogram = scope.histogram(day)
        // Counts are relative to the weight of `day`.
        let weight = weight(index, of: day)
        let (allDays, allOpens) = (manner.days[0] / weight, manner.totals[0] / weight)
        let usual = (allOpens + Tuning.priorDays * Tuning.priorOpens) / (allDays + Tuning.priorDays)
        let days = manner.days[histogram] / weight + Tuning.priorDays
        let constant = Tuning.priorDays * usual / days / Double(LocalTime.slotsOfDay)
        let factor = 1 / (weight * days)
        return Guess(
            offset: histogram * LocalTime.slotsOfDay,
            factor: factor,
            constant: constant,
            total: manner.totals[histogram] * factor + constant * Double(LocalTime.slotsOfDay)
        )
    }

    /// Tuned: best for the simulated users of the tests.
    private enum Tuning {
        /// Days after which the weight of an open is halved.
        static let halfLives = [7.0, 42.0]
        /// Standard deviations of the smoothing, in slots.
        static let spreads = [2.0, 12.0]
        /// Days after which the weight of a score is halved.
        static let scoreHalfLife = 28.0
        /// Days with evenly spread opens that are added to each histogram as a prior.
        static let priorDays = 0.1
        /// Opens a day if nothing is known.
        static let priorOpens = 0.3
    }
}
