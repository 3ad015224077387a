package import FoundationEssentials

/// When each point of a replay is due, by the steps between the points' times.
///
/// For one thread; it only computes, the caller waits.
package struct ReplayPace {
    private let rate: ReplayRate
    private var last: (time: Date, due: Double)?

    package init(rate: ReplayRate) {
        self.rate = rate
    }

    /// Seconds to wait before the next point, which has this time; 0 for at once.
    package mutating func delay(before time: Date?) -> Double {
        // The clock is not looked at for nothing: a million points of a file ask.
        due(time).map { max(0, $0 - monotonicSeconds()) } ?? 0
    }

    /// Seconds of the monotonic clock; `nil` for at once.
    mutating func due(_ time: Date?) -> Double? {
        guard case .times(let factor) = rate, let time else { return nil }
        guard let last else {
            self.last = (time, monotonicSeconds())
            return nil
        }
        // A step back, or one over a pause in the recording, is no time that passed.
        let step = time.timeIntervalSince(last.time)
        let due = last.due + (step > 0 && step <= Judgement.longestPause ? step / factor : 0)
        self.last = (time, due)
        return due
    }
}
