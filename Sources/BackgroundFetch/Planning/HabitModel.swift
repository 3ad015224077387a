import Glibc

/// Several guesses at when somebody looks, each weighed by how well it foretold the days that have been.
///
/// A guess takes the histogram of all days, of the working days or the weekend, of every other week or of one weekday, forgets
/// fast or slowly, and lets neighbouring slots share over minutes or hours. For each day that passed, each guess has said
/// beforehand how likely the opens of that day were (a Poisson process), and the mixture follows those that said best: so
/// Saturdays are told from Mondays, shifts of a rota and hours that moved are found within days, and who looks at any time is
/// taken as that. It is Bayesian model averaging with forgetting (Raftery, Kárný and Ettler, Online prediction under model
/// uncertainty via dynamic model averaging, 2010).
struct HabitModel {
    /// Which days a guess looks at.
    private enum Scope: Int, CaseIterable {
        case all, kind, fortnight, weekday

        /// The histogram of this scope that `day` belongs to, of ``histograms``.
        func histogram(_ day: Int) -> Int {
            let weekday = LocalTime.weekday(ofDay: day)
            return switch self {
            case .all: 0
            case .kind: weekday == 0 || weekday == 6 ? 1 : 2
            // Weeks from Monday on.
            case .fortnight: 3 + LocalTime.dayOfFortnight(day) / 7
            case .weekday: 5 + weekday
            }
        }

        static let histograms = 12
    }

    /// How a histogram forgets and shares.
    private struct Manner {
        /// Days after which an open weighs half.
        let halfLife: Double
        /// Standard deviation of the Gaussian over the slots.
        let spread: Double
        let kernel: [Double]
        var days = [Double](repeating: 0, count: Scope.histograms)
        /// Weighted opens by histogram and slot.
        var opens = [Double](repeating: 0, count: Scope.histograms * LocalTime.slotsOfDay)
        var totals = [Double](repeating: 0, count: Scope.histograms)
        /// Of each scope: how well it foretold.
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

        mutating func add(_ slot: Int, to histogram: Int, _ weight: Double) {
            let slots = LocalTime.slotsOfDay
            totals[histogram] += weight
            // Around the circle of the day.
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

    /// - Parameter today: the local day that opens are weighed from.
    init(today: Int) {
        self.today = today
        manners = Judgement.halfLives.flatMap { halfLife in
            Judgement.spreads.map { Manner(halfLife: halfLife, spread: $0) }
        }
    }

    /// Takes a whole day, with its slots at which somebody looked; days come in order.
    mutating func take(_ slots: ArraySlice<Int>, of day: Int) {
        for index in manners.indices {
            for scope in Scope.allCases { judge(scope, index, slots, of: day) }
            let weight = weight(index, of: day)
            for scope in Scope.allCases {
                let histogram = scope.histogram(day)
                manners[index].days[histogram] += weight
                for slot in slots { manners[index].add(slot, to: histogram, weight) }
            }
        }
    }

    /// Expected opens in each slot of `day`.
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

    /// How likely what happened was to a guess, with forgetting.
    private mutating func judge(_ scope: Scope, _ index: Int, _ slots: ArraySlice<Int>, of day: Int) {
        let guess = guess(scope, index, day)
        var likelihood = -guess.total
        for slot in slots { likelihood += log(guess.rate(slot, manners[index].opens)) }
        let weight = exp2(-Double(today - day) / Judgement.scoreHalfLife)
        manners[index].scores[scope.rawValue] += weight * likelihood
    }

    private func weight(_ index: Int, of day: Int) -> Double {
        exp2(Double(day - today) / manners[index].halfLife)
    }

    /// A guess for one day.
    private struct Guess {
        let offset: Int
        let factor: Double
        let constant: Double
        let total: Double

        func rate(_ slot: Int, _ opens: [Double]) -> Double {
            constant + factor * opens[offset + slot]
        }
    }

    private func guess(_ scope: Scope, _ index: Int, _ day: Int) -> Guess {
        let manner = manners[index]
        let histogram = scope.histogram(day)
        // In days of `day`'s own weight.
        let weight = weight(index, of: day)
        let (allDays, allOpens) = (manner.days[0] / weight, manner.totals[0] / weight)
        let usual = (allOpens + Judgement.priorDays * Judgement.priorOpens) / (allDays + Judgement.priorDays)
        let days = manner.days[histogram] / weight + Judgement.priorDays
        let constant = Judgement.priorDays * usual / days / Double(LocalTime.slotsOfDay)
        let factor = 1 / (weight * days)
        return Guess(
            offset: histogram * LocalTime.slotsOfDay,
            factor: factor,
            constant: constant,
            total: manner.totals[histogram] * factor + constant * Double(LocalTime.slotsOfDay)
        )
    }

    /// judgement: what the simulations of the tests bear out.
    private enum Judgement {
        /// Days.
        static let halfLives = [7.0, 42.0]
        /// Slots.
        static let spreads = [2.0, 12.0]
        /// Days after which how well a guess foretold weighs half.
        static let scoreHalfLife = 28.0
        /// So many days of evenly spread opens are added to what was seen.
        static let priorDays = 0.1
        /// Opens a day where nothing is known.
        static let priorOpens = 0.3
    }
}
