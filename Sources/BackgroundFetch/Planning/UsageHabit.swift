package import BackgrounderAPI
package import FoundationEssentials

/// The expected opens of a source in each slot of 5 minutes, learned from past opens.
///
///     let habit = UsageHabit(opens: opens, now: Date())
///     let plan = FetchPlanner.plan(habit, from: Date(), until: tomorrow, runs: 8, lastEnd: nil)
package struct UsageHabit: Sendable {
    /// The number of opens that are taken into account; several in the same slot count as one.
    package let openCount: Int
    /// The local day of the first of ``rates``.
    private let firstDay: Int
    /// Expected opens by slot, for ``Tuning/days`` days; empty if no habit is known.
    private let rates: [Double]

    /// The number of opens from which a habit is known. With fewer, runs are evenly spaced.
    package static let leastOpens = 5

    /// Whether there are enough opens to learn from.
    package var isKnown: Bool { openCount >= Self.leastOpens }

    /// Learns a habit from past opens.
    ///
    /// - Parameters:
    ///   - opens: in any order. Those after `now` are ignored: they were recorded with a wrong clock.
    ///   - zone: determines the current day, which is not learned from before it is over.
    package init(opens: [FetchOpen], now: Date, zone: LocalZone = .system) {
        let today = zone.local(now).day
        firstDay = today
        var seen = Set<Int>()
        for open in opens where open.at <= now {
            let time = LocalTime(open.at, open.secondsFromGMT)
            // After a flight to the west, an open may have a local day after today; that is accepted.
            guard today - time.day <= FetchOpen.daysThatCount else { continue }
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
            model.learn(sorted[begin..<next].map(\.slot)[...], of: day)
        }
        rates = (today..<today + Tuning.days).flatMap { model.rates(of: $0) }
    }

    /// Returns the expected opens in each slot of the 24 hours from `start`.
    package func day(from start: Date, zone: LocalZone = .system) -> [Double] {
        (0..<LocalTime.slotsOfDay).map { slot in
            rate(at: zone.local(start.addingTimeInterval(Double(slot) * LocalTime.slot)))
        }
    }

    /// Returns the expected opens in a slot. Days outside the known ones have the rates of the nearest known day.
    func rate(at time: LocalTime) -> Double {
        guard !rates.isEmpty else { return 0 }
        let day = min(max(time.day - firstDay, 0), Tuning.days - 1)
        return rates[day * LocalTime.slotsOfDay + time.slot]
    }

    /// Returns the start of the next period in which opens are likely, within a day after `date`; `nil` if there is
    /// none.
    package func nextOpen(after date: Date, zone: LocalZone = .system) -> Date? {
        guard isKnown else { return nil }
        let start = Date(
            timeIntervalSince1970: (date.timeIntervalSince1970 / LocalTime.slot).rounded(.down) * LocalTime.slot
        )
        var wasLikely = rate(at: zone.local(start)) >= Tuning.likely
        for slot in 1...LocalTime.slotsOfDay {
            let time = start.addingTimeInterval(Double(slot) * LocalTime.slot)
            let isLikely = rate(at: zone.local(time)) >= Tuning.likely
            if isLikely, !wasLikely { return time }
            wasLikely = isLikely
        }
        return nil
    }

    /// Tuned: best for the simulated users of the tests.
    enum Tuning {
        /// Days to predict, including today.
        static let days = 4
        /// Expected opens in a slot from which an open is likely: true for a daily open within ± 30 minutes, false for
        /// two opens a day at arbitrary times.
        static let likely = 0.03
    }
}

/// The day and the slot of the day, of a slot counted from 1970-01-01.
extension Int {
    fileprivate var day: Int {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: LocalTime.slotsOfDay)
        return remainder < 0 ? quotient - 1 : quotient
    }

    fileprivate var slot: Int { self - day * LocalTime.slotsOfDay }
}
