import Foundation
import TestSupport

/// Somebody with a habit, or without one: says when he looks on each of many days.
struct SimulatedUser: Sendable, CustomStringConvertible {
    let name: String
    /// Hours of the local day at which he looks, on the day of the given number; day 0 is a Monday.
    let hours: @Sendable (_ day: Int, inout SeededGenerator) -> [Double]

    var description: String { name }

    /// Of working days 8:30 ± 8 minutes and 21:00 ± 30 minutes, at weekends 10:30 ± 60 minutes.
    static let commuter = SimulatedUser(name: "commuter") { day, generator in
        isWeekend(day)
            ? [generator.normal(10.5, minutes: 60)]
            : [generator.normal(8.5, minutes: 8), generator.normal(21, minutes: 30)]
    }

    static let noon = SimulatedUser(name: "noon") { _, generator in [generator.normal(12, minutes: 20)] }

    /// 7:00 ± 10 minutes, from the middle of the time on 13:00.
    static let mover = SimulatedUser(name: "mover") { day, generator in
        [generator.normal(day < FetchSimulation.days / 2 ? 7 : 13, minutes: 10)]
    }

    /// Early and late shifts by the week: 6:00 or 18:00 ± 15 minutes.
    static let rota = SimulatedUser(name: "rota") { day, generator in
        [generator.normal(day / 7 % 2 == 0 ? 6 : 18, minutes: 15)]
    }

    /// Six times at any moment between 9:00 and 17:00 of working days.
    static let office = SimulatedUser(name: "office") { day, generator in
        isWeekend(day) ? [] : (0..<generator.poisson(6)).map { _ in generator.uniform(9, 17) }
    }

    /// Twice a day at any moment between 7:00 and 23:00.
    static let random = SimulatedUser(name: "random") { _, generator in
        (0..<generator.poisson(2)).map { _ in generator.uniform(7, 23) }
    }

    static let habitual = [commuter, noon, mover, rota]
    static let withoutHabit = [office, random]
}

private func isWeekend(_ day: Int) -> Bool { day % 7 >= 5 }

extension SeededGenerator {
    /// From 0 up to 1.
    private mutating func unit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    mutating func uniform(_ low: Double, _ high: Double) -> Double {
        low + (high - low) * unit()
    }

    /// In hours (Box and Muller).
    mutating func normal(_ mean: Double, minutes deviation: Double) -> Double {
        let radius = (-2 * log(1 - unit())).squareRoot()
        return mean + deviation / 60 * radius * cos(2 * .pi * unit())
    }

    /// Knuth's, for small means.
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
