import FoundationEssentials

/// Time as it ran while a log was recorded, told by the times of the fixes: what the monotonic clock is to a live source.
///
/// Each receiver is measured by its own clock, so that two that differ do not make time run faster.
struct LogClock {
    /// Seconds since the log's first time; it never goes back.
    private(set) var now = 0.0
    /// The receiver that spoke last comes last; the oldest falls out.
    private var devices: [(name: String?, time: Date, instant: Double)] = []
    private static let limit = 8

    /// Moves on to a fix of `device` with this time, and gives when it arrived.
    mutating func advance(to time: Date?, device: String?) -> Double {
        guard let time, time.timeIntervalSinceReferenceDate.isFinite else { return now }
        let known = devices.firstIndex { $0.name == device }
        if let last = known.map({ devices[$0] }) ?? devices.last {
            let step = time.timeIntervalSince(last.time)
            // A step back is no time that passed, and a pause over an hour or a wrong date is not waited for: it counts as
            // long enough for the receiver to have been silent.
            let passed = step <= 0 ? 0 : step <= Judgement.longestPause ? step : Judgement.deviceSilence
            now = max(now, last.instant + passed)
        }
        if let known { devices.remove(at: known) }
        devices.append((device, time, now))
        if devices.count > Self.limit { devices.removeFirst() }
        return now
    }
}
