import FoundationEssentials

/// Limits the pushed fetches of one source to three an hour; the third waits until a burst of messages is over.
///
/// Times are wall clock times, so the limit holds across a restart.
struct PushLimiter: Hashable, Sendable {
    /// When the latest fetches began, oldest first; at most three.
    private(set) var starts: [Date]

    init(starts: [Date] = []) {
        self.starts = Array(starts.sorted().suffix(PushLimits.startsPerHour))
    }

    /// Returns the earliest time for the next fetch, provided that no newer message arrives.
    ///
    /// - Parameters:
    ///   - first: when the first message that waits for this fetch arrived.
    ///   - newest: when the newest of them arrived.
    mutating func due(first: Date, newest: Date, now: Date) -> Date {
        // After the clock was set back, a start may be in the future; it must not block the source for more than an
        // hour.
        starts = starts.map { min($0, now) }
        let calm = min(
            min(newest, now).addingTimeInterval(PushLimits.calm),
            min(first, now).addingTimeInterval(PushLimits.longestStorm)
        )
        // The first two fetches of an hour begin immediately, the third after the burst.
        return min(max(now, freed(PushLimits.startsPerHour - 1)), max(now, freed(PushLimits.startsPerHour), calm))
    }

    /// Returns the time from which fewer than `count` fetches began within the last hour.
    private func freed(_ count: Int) -> Date {
        starts.count < count ? .distantPast : starts[starts.count - count].addingTimeInterval(PushLimits.hour)
    }

    /// Records that a fetch began.
    mutating func began(at time: Date) {
        starts = Array((starts + [time]).suffix(PushLimits.startsPerHour))
    }

    /// Removes the start of a fetch that did not run.
    mutating func undo(_ time: Date) {
        if let index = starts.lastIndex(of: time) { starts.remove(at: index) }
    }
}
