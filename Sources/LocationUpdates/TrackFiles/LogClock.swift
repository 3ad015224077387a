import FoundationEssentials

/// The time that passed while a log was recorded, derived from the times of its fixes; it replaces the monotonic clock of a live
/// source.
///
/// Each receiver is measured by its own clock, so that two differing clocks do not make time run faster.
struct LogClock {
    /// Seconds since the log's first time; never decreases.
    private(set) var now = 0.0
    /// Ordered by their last fix, newest last. Bounded.
    private var devices: [(name: String?, time: Date, instant: Double)] = []
    private static let limit = 8
    /// Longer pauses in a recording are skipped; in seconds.
    static let longestPause = 3600.0

    /// Advances to a fix of `device` with this time, and returns its time of arrival.
    mutating func advance(to time: Date?, device: String?) -> Double {
        guard let time, time.timeIntervalSinceReferenceDate.isFinite else { return now }
        let known = devices.firstIndex { $0.name == device }
        if let last = known.map({ devices[$0] }) ?? devices.last {
            let step = time.timeIntervalSince(last.time)
            // A step back does not count as elapsed time. A pause of more than an hour, or a wrong date, is skipped: it counts as
            // just long enough for the receiver to be silent.
            let passed = step <= 0 ? 0 : step <= Self.longestPause ? step : LocationFilter.deviceSilence
            now = max(now, last.instant + passed)
        }
        if let known { devices.remove(at: known) }
        devices.append((device, time, now))
        if devices.count > Self.limit { devices.removeFirst() }
        return now
    }
}
