package import FoundationEssentials

/// A planned run.
package struct PlannedSlot: Hashable, Sendable {
    /// When the run should end: just before an expected open.
    package var end: Date
    /// The reason for this time, in one sentence.
    package var why: String

    /// Creates a planned run that should end at `end`.
    package init(end: Date, why: String) {
        self.end = end
        self.why = why
    }
}

/// Plans runs so that the content is young when it is opened.
///
/// The planner minimises the expected Σ min(age of the content, cap) over the opens that the ``UsageHabit`` predicts.
/// The result is exact, by dynamic programming over slots of 5 minutes.
package enum FetchPlanner {
    /// Returns a plan in chronological order. A pure function.
    ///
    /// - Parameters:
    ///   - from: the start of the plan; no run ends earlier.
    ///   - until: the end of the plan, usually a day later. A plan covers at most three days.
    ///   - runs: the maximum number of runs.
    ///   - lastEnd: the end of the last run that fetched or confirmed the content.
    ///   - spacing: the minimum distance in seconds between two ends, and from `lastEnd` to the first.
    package static func plan(
        _ habit: UsageHabit,
        from: Date,
        until: Date,
        runs: Int,
        lastEnd: Date? = nil,
        spacing: Double = 900,
        zone: LocalZone = .system
    ) -> [PlannedSlot] {
        guard runs > 0, until > from else { return [] }
        let until = min(until, from.addingTimeInterval(3 * LocalTime.day))
        guard habit.isKnown else { return evenly(from: from, until: until, runs: runs, lastEnd: lastEnd, spacing) }
        let day = Slots(habit, from: from, until: until, zone: zone)
        var ages = AgePlan(rates: day.rates, runs: runs, spacing: spacing, first: lastEnd.map { day.place(of: $0) })
        var ends = ages.ends(cap: Tuning.cap)
        // The habit is weak: many opens will come at other times, and with the cap for a strong habit the content could
        // become very old for these.
        if ages.share(olderThan: Tuning.old, ends) > Tuning.weakShare { ends = ages.ends(cap: Tuning.wideCap) }
        return ends.indices.map { index in
            let next = index + 1 < ends.count ? ends[index + 1] : day.rates.count
            return PlannedSlot(end: day.date(ends[index]), why: day.reason(ends[index], next))
        }
    }

    /// Returns evenly spaced runs, for a source without a known habit.
    private static func evenly(
        from: Date,
        until: Date,
        runs: Int,
        lastEnd: Date?,
        _ spacing: Double
    ) -> [PlannedSlot] {
        let span = until.timeIntervalSince(from)
        let gap = max(span / Double(runs), spacing)
        let first = max(0, lastEnd.map { min($0, from).addingTimeInterval(gap).timeIntervalSince(from) } ?? 0)
        return (0..<runs).compactMap { index in
            let offset = first + Double(index) * gap
            // A tolerance for rounding errors.
            guard offset <= span + 0.001 else { return nil }
            let why = "evenly spaced: fewer than \(UsageHabit.leastOpens) opens are known"
            return PlannedSlot(end: from.addingTimeInterval(offset), why: why)
        }
    }

    /// Tuned: best for the simulated users of the tests.
    enum Tuning {
        /// Minutes above which a greater age costs no more. With 60, the runs spread more, and fewer opens find content
        /// younger than 15 minutes.
        static let cap = 40.0
        /// The cap in minutes for a weak habit.
        static let wideCap = 240.0
        /// A habit is weak if more than ``weakShare`` of the expected opens find content older than this, in minutes.
        static let old = 60.0
        static let weakShare = 0.1
    }

    /// The slots between two dates, with the expected opens.
    private struct Slots {
        /// The start of the first slot.
        let start: Date
        let rates: [Double]
        let zone: LocalZone

        init(_ habit: UsageHabit, from: Date, until: Date, zone: LocalZone) {
            // Offsets from UTC are multiples of 15 minutes, so slots in UTC are also slots in local time.
            let seconds = (from.timeIntervalSince1970 / LocalTime.slot).rounded(.down) * LocalTime.slot
            start = Date(timeIntervalSince1970: seconds)
            self.zone = zone
            let count = Int((until.timeIntervalSince(start) / LocalTime.slot).rounded(.up))
            rates = (0..<count).map { [start] index in
                let middle = start.addingTimeInterval((Double(index) + 0.5) * LocalTime.slot)
                return habit.rate(at: zone.local(middle))
            }
        }

        /// Returns the start of a slot.
        func date(_ slot: Int) -> Date {
            start.addingTimeInterval(Double(slot) * LocalTime.slot)
        }

        /// Returns `date` in slots since ``start``.
        func place(of date: Date) -> Double {
            date.timeIntervalSince(start) / LocalTime.slot
        }

        /// Returns the reason for a run that ends at `end`, before a run that ends at `next`.
        func reason(_ end: Int, _ next: Int) -> String {
            let expected = rates[end..<next]
            let total = expected.reduce(0, +)
            guard let peak = expected.indices.max(by: { expected[$0] < expected[$1] }), total > 0 else {
                return "no open is expected before the next run"
            }
            let percent = Int((min(1, total) * 100).rounded())
            return
                "ahead of opens around \(zone.local(date(peak)).clock); \(percent) % chance of one before the next run"
        }
    }
}
