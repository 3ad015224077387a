package import FoundationEssentials
import SystemSupport

/// Computes when each point of a replay is due, from the steps between the points' times.
///
/// One thread at a time; the caller waits.
package struct ReplayPace {
    private let rate: ReplayRate
    private var last: (time: Date, due: Double)?

    /// Creates a pace that starts with the first point.
    package init(rate: ReplayRate) {
        self.rate = rate
    }

    /// Returns the seconds to wait before the next point, which has this time; 0 if it is due.
    package mutating func delay(before time: Date?) -> Double {
        // Reads the clock only when needed: a file may have millions of points.
        due(time).map { max(0, $0 - MonotonicTime.now.seconds) } ?? 0
    }

    /// Returns when the next point is due, in seconds of the monotonic clock; `nil` for immediately.
    mutating func due(_ time: Date?) -> Double? {
        guard case .times(let factor) = rate, let time else { return nil }
        guard let last else {
            self.last = (time, MonotonicTime.now.seconds)
            return nil
        }
        // A step back, or across a pause in the recording, does not count as elapsed time.
        let step = time.timeIntervalSince(last.time)
        let due = last.due + (step > 0 && step <= LogClock.longestPause ? step / factor : 0)
        self.last = (time, due)
        return due
    }
}
