/// The steps of the paced device: it takes samples out of the rings as time passes, so it never holds any.
struct Pacing {
    private(set) var step: PacedStep?
    /// The end of the previous step.
    private var last: Int64 = 0

    mutating func begin(_ contents: StepContents, frames: Int, rate: Int, now: Int64) -> PacedStep {
        // Follows the previous step directly, so that delays do not add up; not after a pause or a suspended machine.
        let start = now - last < 250_000_000 ? last : now
        let new = PacedStep(contents: contents, frames: frames, rate: rate, since: start)
        step = new
        return new
    }

    /// Ends the step, at its end or early. Returns the frames that were heard.
    mutating func end(now: Int64) -> Int {
        guard let step else { return 0 }
        self.step = nil
        last = min(step.end, now)
        let passed = Int(Double(max(0, now - step.since)) * Double(step.rate) / 1e9)
        return min(step.frames, passed)
    }
}

/// A step of the paced device.
struct PacedStep {
    let contents: StepContents
    let frames: Int
    let rate: Int
    /// The start, in nanoseconds of the monotonic clock.
    let since: Int64

    var end: Int64 { since + Int64(Double(frames) * 1e9 / Double(rate)) }
}
