/// Estimates the frame that the listener hears between two reports of the output.
///
/// libao does not report how much a device holds. The estimate assumes that a device holds at most its buffer and at most
/// what it was handed since it was opened, plays at its rate, and never goes back.
struct PositionMeter {
    private var base: Int
    private var limit: Int
    private var since: Int64
    private var rate: Int

    init(at frame: Int) {
        base = frame
        limit = frame
        since = 0
        rate = 1
    }

    /// Returns the frames heard at `now`, in nanoseconds of the monotonic clock.
    func heard(at now: Int64) -> Int {
        guard limit > base else { return base }
        // In floating point, because the nanoseconds of an hour times a high rate exceed 64 bits.
        let advanced = Double(max(0, now - since)) * Double(rate) / 1e9
        return advanced >= Double(limit - base) ? limit : base + Int(advanced)
    }

    /// Sets the position to at least `base` at `now`. It then advances at `rate` up to `limit`, after `delay` frames of
    /// other sound that the device still holds.
    mutating func run(from base: Int, to limit: Int, rate: Int, now: Int64, delay: Int = 0) {
        let heard = min(heard(at: now), limit)
        self.base = max(base, heard)
        self.limit = limit
        self.rate = rate
        since = now + Int64(Double(delay) * 1e9 / Double(rate))
    }

    /// Whether the position still advances by itself.
    func isRunning(at now: Int64) -> Bool { heard(at: now) < limit }
}
