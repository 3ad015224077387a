import FoundationEssentials

/// When the fetch of one source may begin: three an hour, the third for the newest of a storm.
///
/// A pure value; its times are those of the wall clock, so that the hour goes on over a restart.
struct PushLimiter: Hashable, Sendable {
    /// When fetches began, oldest first; at most three.
    private(set) var starts: [Date]

    init(starts: [Date] = []) {
        self.starts = Array(starts.sorted().suffix(PushJudgement.startsPerHour))
    }

    /// The earliest time for a message, if none comes after it.
    ///
    /// - Parameters:
    ///   - first: when the first of the messages came that wait for this begin.
    ///   - newest: when the last of them came.
    mutating func due(first: Date, newest: Date, now: Date) -> Date {
        // A clock that was set back must not keep a source silent for longer than an hour.
        starts = starts.map { min($0, now) }
        let calm = min(
            min(newest, now).addingTimeInterval(PushJudgement.calm),
            min(first, now).addingTimeInterval(PushJudgement.longestStorm)
        )
        // Of three an hour two begin at once, and the third after the calm.
        return min(max(now, freed(PushJudgement.startsPerHour - 1)), max(now, freed(PushJudgement.startsPerHour), calm))
    }

    /// From when on fewer than `count` began within an hour.
    private func freed(_ count: Int) -> Date {
        starts.count < count ? .distantPast : starts[starts.count - count].addingTimeInterval(PushJudgement.hour)
    }

    mutating func began(at time: Date) {
        starts = Array((starts + [time]).suffix(PushJudgement.startsPerHour))
    }

    /// Takes back a begin that came to nothing.
    mutating func takeBack(_ time: Date) {
        if let index = starts.lastIndex(of: time) { starts.remove(at: index) }
    }
}
