package import FoundationEssentials

/// When a run may begin, and when it must: in between it waits for a wakeup that happens anyway.
package struct FlexWindow: Hashable, Sendable {
    /// Never sooner.
    package var earliest: Date
    /// Then the service wakes up for it; never before ``earliest``.
    package var deadline: Date

    package init(earliest: Date, deadline: Date) {
        self.earliest = earliest
        self.deadline = max(earliest, deadline)
    }

    /// Of a source with an interval of its own.
    ///
    /// - Parameters:
    ///   - lastBegan: when its last run began.
    ///   - interval: seconds, a hard lower bound.
    ///   - floor: what a server or a backoff asks for besides; no run before it.
    ///   - nextOpen: when somebody will probably look (``UsageHabit/nextOpen(after:zone:)``): the run does not wait longer.
    package init(after lastBegan: Date, interval: Double, floor: Date? = nil, nextOpen: Date? = nil) {
        let earliest = max(lastBegan.addingTimeInterval(interval), floor ?? .distantPast)
        let latest = earliest.addingTimeInterval(Self.slack(interval))
        self.init(earliest: earliest, deadline: min(latest, nextOpen ?? .distantFuture))
    }

    /// Of a planned run.
    ///
    /// - Parameter duration: seconds that a run usually takes at most (the 95th percentile).
    package init(endingAt end: Date, duration: Double, notBefore floor: Date? = nil) {
        let begin = end.addingTimeInterval(-max(0, duration))
        self.init(
            earliest: max(begin.addingTimeInterval(-Judgement.early), floor ?? .distantPast),
            deadline: begin
        )
    }

    /// How long a run with an interval of its own may wait.
    static func slack(_ interval: Double) -> Double {
        max(interval * Judgement.flex, Judgement.leastFlex)
    }

    package func isOpen(at date: Date) -> Bool { earliest <= date }

    /// judgement: 20 % saves more than half of the wakeups and lets content age by a sixth.
    enum Judgement {
        /// Of the interval.
        static let flex = 0.2
        /// Seconds.
        static let leastFlex = 60.0
        /// Seconds that a planned run may be early: one slot of the plan.
        static let early = LocalTime.slot
    }
}
