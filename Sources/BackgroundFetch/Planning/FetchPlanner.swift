package import FoundationEssentials

/// A run of a plan.
package struct PlannedSlot: Hashable, Sendable {
    /// When it should have ended: just before somebody looks.
    package var end: Date
    /// One sentence.
    package var why: String

    package init(end: Date, why: String) {
        self.end = end
        self.why = why
    }
}

/// Finds the times at which runs should end, so that who looks finds young content.
///
/// It minimises the expected Σ min(age of the content, cap) over the opens of the ``UsageHabit``, exactly, by dynamic
/// programming over the 5-minute slots. It is a pure function: the same arguments give the same plan.
package enum FetchPlanner {
    /// - Parameters:
    ///   - from: now; no run ends sooner.
    ///   - until: the end of the plan, usually a day later; at most three days are planned.
    ///   - runs: how many, at most.
    ///   - lastEnd: of the last run that brought or confirmed the content; its age is carried on.
    ///   - spacing: the least seconds between two ends, and after `lastEnd`.
    /// - Returns: in order of time.
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
        var ends = ages.ends(cap: Judgement.cap)
        // The habit is weak: many looks will come at other times, and for those the cap of a strong habit leaves the content
        // to age without limit.
        if ages.share(olderThan: Judgement.old, ends) > Judgement.weakShare { ends = ages.ends(cap: Judgement.wideCap) }
        return ends.indices.map { index in
            let next = index + 1 < ends.count ? ends[index + 1] : day.rates.count
            return PlannedSlot(end: day.date(ends[index]), why: day.reason(ends[index], next))
        }
    }

    /// Without a habit: each as long after the one before.
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
            // A millisecond, as sums of fractions may pass the end by less.
            guard offset <= span + 0.001 else { return nil }
            let why = "evenly spaced: fewer than \(UsageHabit.leastOpens) opens are known"
            return PlannedSlot(end: from.addingTimeInterval(offset), why: why)
        }
    }

    /// judgement: measured with the simulated users of the tests.
    enum Judgement {
        /// Minutes from which on content is merely old. 60 as the cap spreads the runs more, and leaves fewer looks that find
        /// content of under 15 minutes.
        static let cap = 40.0
        /// Minutes, where the habit is weak.
        static let wideCap = 240.0
        /// Minutes; when so much of the expected looks find content older than that, the habit is weak.
        static let old = 60.0
        static let weakShare = 0.1
    }

    /// The 5 minutes between two instants, with what is expected in them.
    private struct Slots {
        /// The first one's begin, a whole slot.
        let start: Date
        let rates: [Double]
        let zone: LocalZone

        init(_ habit: UsageHabit, from: Date, until: Date, zone: LocalZone) {
            // Offsets are whole quarters of an hour, so that the slots of UTC are those of local time.
            let seconds = (from.timeIntervalSince1970 / LocalTime.slot).rounded(.down) * LocalTime.slot
            start = Date(timeIntervalSince1970: seconds)
            self.zone = zone
            let count = Int((until.timeIntervalSince(start) / LocalTime.slot).rounded(.up))
            rates = (0..<count).map { [start] index in
                let middle = start.addingTimeInterval((Double(index) + 0.5) * LocalTime.slot)
                return habit.rate(at: zone.local(middle))
            }
        }

        func date(_ slot: Int) -> Date {
            start.addingTimeInterval(Double(slot) * LocalTime.slot)
        }

        /// In slots; negative for what was before the first one.
        func place(of date: Date) -> Double {
            date.timeIntervalSince(start) / LocalTime.slot
        }

        func reason(_ end: Int, _ next: Int) -> String {
            let expected = rates[end..<next]
            let total = expected.reduce(0, +)
            guard let peak = expected.indices.max(by: { expected[$0] < expected[$1] }), total > 0 else {
                return "no open is expected after it"
            }
            let percent = Int((min(1, total) * 100).rounded())
            return
                "before the opens around \(zone.local(date(peak)).clock); \(percent) % chance of one until the next run"
        }
    }
}
