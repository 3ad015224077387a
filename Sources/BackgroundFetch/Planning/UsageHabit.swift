package import FoundationEssentials

/// When somebody usually looks: the expected opens of each 5 minutes, learnt from when it was opened.
///
///     let habit = UsageHabit(opens: opens, now: Date())
///     let plan = FetchPlanner.plan(habit, from: Date(), until: tomorrow, runs: 8, lastEnd: nil)
package struct UsageHabit: Sendable {
    /// Opens that it knows of; those within the same 5 minutes are one.
    package let openCount: Int
    /// The local day from which on ``rates`` has those of each slot.
    private let firstDay: Int
    private let rates: [Double]

    /// Fewer opens are no habit, and runs are spaced evenly.
    package static let leastOpens = 5

    /// Seconds after which an open is forgotten.
    package static let memory = Double(Judgement.memory + 1) * LocalTime.day

    package var isKnown: Bool { openCount >= Self.leastOpens }

    /// - Parameters:
    ///   - opens: in any order; those later than `now` are ignored, as a clock that was wrong made them.
    ///   - zone: says which day it is. Today is learnt from when it is over.
    package init(opens: [OpenRecord], now: Date, zone: LocalZone = .system) {
        let today = zone.local(now).day
        firstDay = today
        var seen = Set<Int>()
        for open in opens where open.at <= now {
            let time = LocalTime(open.at, open.secondsFromGMT)
            // Who travelled west may have opened "tomorrow".
            guard today - time.day <= Judgement.memory else { continue }
            seen.insert(time.day * LocalTime.slotsOfDay + time.slot)
        }
        openCount = seen.count
        guard let first = seen.min(), seen.count >= Self.leastOpens else {
            rates = []
            return
        }
        let sorted = seen.sorted()
        var model = HabitModel(today: today)
        var next = 0
        for day in min(first.day, today)..<max(today, first.day) {
            let begin = next
            while next < sorted.count, sorted[next].day <= day { next += 1 }
            model.take(sorted[begin..<next].map(\.slot)[...], of: day)
        }
        rates = (today..<today + Judgement.days).flatMap { model.rates(of: $0) }
    }

    /// Expected opens of each 5 minutes of the 24 hours from `start` on.
    package func day(from start: Date, zone: LocalZone = .system) -> [Double] {
        (0..<LocalTime.slotsOfDay).map { slot in
            rate(at: zone.local(start.addingTimeInterval(Double(slot) * LocalTime.slot)))
        }
    }

    /// A slot's rate: expected opens in its 5 minutes. Days that are too far away look like the nearest one that is not.
    func rate(at time: LocalTime) -> Double {
        guard !rates.isEmpty else { return 0 }
        let day = min(max(time.day - firstDay, 0), Judgement.days - 1)
        return rates[day * LocalTime.slotsOfDay + time.slot]
    }

    /// When the next time begins at which somebody usually looks, within a day after `date`.
    package func nextOpen(after date: Date, zone: LocalZone = .system) -> Date? {
        guard isKnown else { return nil }
        let start = Date(
            timeIntervalSince1970: (date.timeIntervalSince1970 / LocalTime.slot).rounded(.down) * LocalTime.slot
        )
        var wasLikely = rate(at: zone.local(start)) >= Judgement.likely
        for slot in 1...LocalTime.slotsOfDay {
            let time = start.addingTimeInterval(Double(slot) * LocalTime.slot)
            let isLikely = rate(at: zone.local(time)) >= Judgement.likely
            if isLikely, !wasLikely { return time }
            wasLikely = isLikely
        }
        return nil
    }

    /// judgement: what the simulations of the tests bear out.
    enum Judgement {
        /// Days, today among them, that it is known for.
        static let days = 4
        /// Days after which an open is forgotten.
        static let memory = 120
        /// Expected opens in 5 minutes from which on a time is one at which somebody usually looks: one of 20 ± 30 minutes
        /// is, twice a day at any hour is not.
        static let likely = 0.03
    }
}

/// Of slots counted from 1970 on.
extension Int {
    fileprivate var day: Int {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: LocalTime.slotsOfDay)
        return remainder < 0 ? quotient - 1 : quotient
    }

    fileprivate var slot: Int { self - day * LocalTime.slotsOfDay }
}
