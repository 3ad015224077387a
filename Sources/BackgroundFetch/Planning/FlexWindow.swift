package import FoundationEssentials

/// A time window in which a run should begin. Until the deadline, the run waits for another wakeup to share.
package struct FlexWindow: Hashable, Sendable {
    /// The run does not begin earlier.
    package var earliest: Date
    /// The service wakes up for the run at this time; never before ``earliest``.
    package var deadline: Date

    /// Creates a window. A deadline before `earliest` is moved to `earliest`.
    package init(earliest: Date, deadline: Date) {
        self.earliest = earliest
        self.deadline = max(earliest, deadline)
    }

    /// Creates the window for a source with a custom interval.
    ///
    /// - Parameters:
    ///   - lastBegan: the start of the interval.
    ///   - interval: seconds that must pass.
    ///   - floor: an additional lower bound, set by the server or by backing off.
    ///   - nextOpen: the next likely open (``UsageHabit/nextOpen(after:zone:)``), which limits the deadline.
    package init(after lastBegan: Date, interval: Double, floor: Date? = nil, nextOpen: Date? = nil) {
        let earliest = max(lastBegan.addingTimeInterval(interval), floor ?? .distantPast)
        let latest = earliest.addingTimeInterval(Self.slack(interval))
        self.init(earliest: earliest, deadline: min(latest, nextOpen ?? .distantFuture))
    }

    /// Creates the window for a planned run.
    ///
    /// - Parameters:
    ///   - end: when the run should end.
    ///   - duration: the usual duration of a run in seconds (the 95th percentile).
    ///   - floor: a lower bound, set by the service, the server or backing off.
    package init(endingAt end: Date, duration: Double, notBefore floor: Date? = nil) {
        let begin = end.addingTimeInterval(-max(0, duration))
        self.init(
            earliest: max(begin.addingTimeInterval(-Tuning.early), floor ?? .distantPast),
            deadline: begin
        )
    }

    /// Returns how many seconds a run with a custom interval may wait to share a wakeup.
    static func slack(_ interval: Double) -> Double {
        max(interval * Tuning.flex, Tuning.leastFlex)
    }

    /// Whether the run may begin at `date`, including after the deadline.
    package func isOpen(at date: Date) -> Bool { earliest <= date }

    /// Tuned: a flex of 20 % saves more than half of the wakeups and makes content a sixth older.
    enum Tuning {
        /// The share of the interval.
        static let flex = 0.2
        /// The minimum in seconds.
        static let leastFlex = 60.0
        /// Seconds by which a planned run may begin early: one slot of the plan.
        static let early = LocalTime.slot
    }
}
