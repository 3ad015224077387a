/// Where the listener is, in frames of the pipeline, between two reports of the output.
///
/// libao does not say how much a device holds. So: a device holds at most its buffer and at most what it was given since
/// it was opened, it plays at its rate, and it never goes back.
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

    /// Frames that have been heard at `now`, in nanoseconds of the monotonic clock.
    func heard(at now: Int64) -> Int {
        guard limit > base else { return base }
        // In floating point: an hour of silence times a high rate is more than 64 bits of nanoseconds.
        let advanced = Double(max(0, now - since)) * Double(rate) / 1e9
        return advanced >= Double(limit - base) ? limit : base + Int(advanced)
    }

    /// From `now` on it is at least at `base`, and runs on to `limit` at `rate`, once `delay` frames have been heard that
    /// the device holds of something else.
    mutating func run(from base: Int, to limit: Int, rate: Int, now: Int64, delay: Int = 0) {
        let heard = min(heard(at: now), limit)
        self.base = max(base, heard)
        self.limit = limit
        self.rate = rate
        since = now + Int64(Double(delay) * 1e9 / Double(rate))
    }

    /// Whether it still moves by itself.
    func isRunning(at now: Int64) -> Bool { heard(at: now) < limit }
}
