import Foundation
import TestSupport

/// A user with or without a habit, who opens the app at certain hours of each day.
struct SimulatedUser: Sendable, CustomStringConvertible {
    let name: String
    /// Returns the local hours of the opens on a day; day 0 is a Monday.
    let hours: @Sendable (_ day: Int, inout SeededGenerator) -> [Double]

    var description: String { name }

    /// On working days 8:30 ± 8 minutes and 21:00 ± 30 minutes, at weekends 10:30 ± 60 minutes.
    static let commuter = SimulatedUser(name: "commuter") { day, generator in
        isWeekend(day)
            ? [generator.normal(10.5, minutes: 60)]
            : [generator.normal(8.5, minutes: 8), generator.normal(21, minutes: 30)]
    }

    static let noon = SimulatedUser(name: "noon") { _, generator in [generator.normal(12, minutes: 20)] }

    /// 7:00 ± 10 minutes in the first half of the days, then 13:00.
    static let mover = SimulatedUser(name: "mover") { day, generator in
        [generator.normal(day < FetchSimulation.days / 2 ? 7 : 13, minutes: 10)]
    }

    /// Early and late shifts in alternate weeks: 6:00 or 18:00 ± 15 minutes.
    static let rota = SimulatedUser(name: "rota") { day, generator in
        [generator.normal(day / 7 % 2 == 0 ? 6 : 18, minutes: 15)]
    }

    /// On average six times between 9:00 and 17:00 on working days.
    static let office = SimulatedUser(name: "office") { day, generator in
        isWeekend(day) ? [] : (0..<generator.poisson(6)).map { _ in generator.uniform(9, 17) }
    }

    /// On average twice a day between 7:00 and 23:00.
    static let random = SimulatedUser(name: "random") { _, generator in
        (0..<generator.poisson(2)).map { _ in generator.uniform(7, 23) }
    }

    static let habitual = [commuter, noon, mover, rota]
    static let withoutHabit = [office, random]
}

private func isWeekend(_ day: Int) -> Bool { day % 7 >= 5 }

extension SeededGenerator {
    /// A number from 0 up to 1.
    private mutating func unit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    mutating func uniform(_ low: Double, _ high: Double) -> Double {
        low + (high - low) * unit()
    }

    /// A normally distributed hour (Box-Muller transform).
    mutating func normal(_ mean: Double, minutes deviation: Double) -> Double {
        let radius = (-2 * log(1 - unit())).squareRoot()
        return mean + deviation / 60 * radius * cos(2 * .pi * unit())
    }

    /// A Poisson-distributed count (Knuth's algorithm, for small means).
    mutating func poisson(_ mean: Double) -> Int {
        let limit = exp(-mean)
        var (count, product) = (0, unit())
        while product > limit {
            count += 1
            product *= unit()
        }
        return count
    }
}
