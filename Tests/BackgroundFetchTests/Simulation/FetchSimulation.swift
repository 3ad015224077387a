import BackgroundFetch
import BackgrounderAPI
import Foundation
import TestSupport

/// How old the content was at each of a user's opens.
struct Freshness: CustomStringConvertible {
    /// Minutes, one for each open.
    var ages: [Double] = []

    func share(within minutes: Double) -> Double {
        Double(ages.count { $0 <= minutes }) / Double(ages.count)
    }

    var description: String {
        let figures = [
            ("≤ 15", share(within: 15)), ("≤ 60", share(within: 60)), ("mean", mean), ("p90", percentile(0.9)),
        ]
        return figures.map { String(format: "\($0) %.3f", $1) }.joined(separator: ", ")
    }

    var mean: Double { ages.reduce(0, +) / Double(ages.count) }

    func percentile(_ share: Double) -> Double {
        let sorted = ages.sorted()
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }
}

/// Twelve weeks of a user's opens; the first two are for learning.
struct FetchSimulation {
    static let days = 84
    static let learning = 14
    /// A Monday, 0:00 UTC.
    static let start = Date(timeIntervalSince1970: 1_767_571_200)

    let opens: [Date]
    let zone: LocalZone

    init(_ user: SimulatedUser, seed: UInt64, zone: LocalZone = .fixed(0)) {
        var generator = SeededGenerator(seed: seed)
        var opens: [Date] = []
        for day in 0..<Self.days {
            for hour in user.hours(day, &generator) {
                // From local to absolute time; in two steps, because the offset depends on the result.
                let local = Self.start.addingTimeInterval(Double(day) * 86_400 + hour * 3600)
                let guess = local.addingTimeInterval(-Double(zone.secondsFromGMT(local)))
                opens.append(local.addingTimeInterval(-Double(zone.secondsFromGMT(guess))))
            }
        }
        self.opens = opens.sorted()
        self.zone = zone
    }

    /// Plans `runs` at each local midnight from the opens until then.
    func planned(runs: Int) async -> Freshness {
        var (ends, known) = ([Date](), [FetchOpen]())
        var midnight = Self.start.addingTimeInterval(-Double(zone.secondsFromGMT(Self.start)))
        var rest = opens[...]
        for _ in 0..<Self.days {
            // Lets other tests run.
            await Task.yield()
            while let open = rest.first, open < midnight {
                known.append(FetchOpen(at: open, secondsFromGMT: zone.secondsFromGMT(open)))
                rest.removeFirst()
            }
            let next = zone.midnight(after: midnight)
            let habit = UsageHabit(opens: known, now: midnight, zone: zone)
            let plan = FetchPlanner.plan(
                habit,
                from: midnight,
                until: next,
                runs: runs,
                lastEnd: ends.last,
                zone: zone
            )
            ends += plan.map(\.end)
            midnight = next
        }
        return freshness(ends)
    }

    /// Spaces `runs` a day evenly; `phase`, from 0 up to 1, places the first one within its gap.
    func even(runs: Int, phase: Double) -> Freshness {
        let gap = 86_400 / Double(runs)
        return freshness((0..<Self.days * runs).map { Self.start.addingTimeInterval((Double($0) + phase) * gap) })
    }

    func freshness(_ ends: [Date]) -> Freshness {
        let begin = Self.start.addingTimeInterval(Double(Self.learning) * 86_400)
        var result = Freshness()
        var next = 0
        for open in opens where open >= begin {
            while next < ends.count, ends[next] <= open { next += 1 }
            guard next > 0 else { continue }
            result.ages.append(open.timeIntervalSince(ends[next - 1]) / 60)
        }
        return result
    }
}
