import BackgrounderAPI
import MediaFiles

/// The music between decoder and listener: decoded samples, the items that they belong to, and what has been heard.
struct MusicBuffer {
    private(set) var ring: SampleRing?
    /// Where items and formats begin, in order; the first one is heard now.
    private var marks: [Mark] = []
    /// Where the titles of a live stream begin, in order.
    private var titles: [Title] = []
    /// The position to show until something has been decoded.
    private var origin = Mark(frame: 0, token: -1, seconds: 0, rate: 1)
    private var meter = PositionMeter(at: 0)
    /// The decoder waits for the ring to run empty, because the next samples have another format.
    private(set) var wantsDrain = false

    /// The start of a job's samples: from `frame` on they belong to `token`, at `seconds` in its item.
    private struct Mark {
        let frame: Int
        let token: Int
        let seconds: Double
        let rate: Int
        var replayGain = ReplayGain()
        /// In kbit/s.
        var bitrate: Int?
    }

    /// The title of the samples of `token` from `frame` on.
    private struct Title {
        let frame: Int
        let token: Int
        let text: String
        /// Whether it was reported to the player.
        var isTold = false
    }

    var format: AudioFormat? { ring?.format }
    /// The frames that are decoded and not taken by the output.
    var count: Int { ring?.count ?? 0 }
    /// The frames that the output has taken so far.
    private var read: Int { ring?.read ?? 0 }

    // MARK: The decoder's side

    /// Makes room for samples in another format. Returns false while samples in the old one are left.
    mutating func change(to format: AudioFormat) -> Bool {
        guard count == 0 else {
            wantsDrain = true
            return false
        }
        ring = SampleRing(format: format, at: ring?.written ?? 0)
        return true
    }

    /// The decoder no longer waits for the ring to run empty.
    mutating func cancelDrain() { wantsDrain = false }

    /// Marks the samples appended from here on as those of `job`, from `seconds` on.
    mutating func begin(_ job: DecodingJob, seconds: Double, gain: ReplayGain, bitrate: Int?) {
        guard let ring else { return }
        wantsDrain = false
        marks.append(
            Mark(
                frame: ring.written,
                token: job.token,
                seconds: seconds,
                rate: ring.format.rate,
                replayGain: gain,
                bitrate: bitrate
            )
        )
    }

    /// Tuned: titles that wait; more are sent by no station.
    private static let mostTitles = 32

    /// Marks the samples appended from here on with a title of `job`.
    mutating func entitle(_ job: DecodingJob, _ text: String) {
        if titles.count == Self.mostTitles { titles.removeFirst() }
        titles.append(Title(frame: ring?.written ?? 0, token: job.token, text: text))
    }

    // MARK: The output's side

    /// Whether the decoder waits for room, or for the end of the samples.
    var needsDecoder: Bool { ring.map { $0.isHalfFree || wantsDrain } ?? false }

    /// The frames left before the next item begins.
    var framesOfItem: Int {
        let end = marks.first { $0.frame > read }?.frame ?? .max
        return min(count, end - read)
    }

    /// Whether the next frame is the first of an item.
    var isAtItem: Bool { ring != nil && marks.contains { $0.frame == read } }

    /// Returns the factor for the next samples, in parts of 65,536: `level` times the gain of their item.
    func gain(_ mode: ReplayGainMode, on level: Int32) -> Int32 {
        guard mode != .off, ring != nil, let mark = marks.last(where: { $0.frame <= read }) else { return level }
        return Int32((Double(level) * mark.replayGain.factor(mode)).rounded())
    }

    /// The device has all frames taken so far. It still holds `held` of them, after `delay` frames of other sound.
    mutating func handedOver(held: Int, delay: Int, rate: Int, now: Int64) {
        meter.run(from: read - held, to: read, rate: rate, now: now, delay: delay)
    }

    /// The next `frames` are heard from `start` on, while they are still in the ring.
    mutating func pace(_ frames: Int, rate: Int, start: Int64) {
        meter.run(from: read, to: read + frames, rate: rate, now: start)
    }

    /// Removes `frames` that have been heard while they were in the ring.
    mutating func skip(_ frames: Int, rate: Int, now: Int64) {
        ring?.skip(frames)
        meter.run(from: read, to: read, rate: rate, now: now)
    }

    /// The device was closed and has played everything.
    mutating func heardAll() { meter = PositionMeter(at: read) }

    /// The device was lost: the position stays where it is.
    mutating func stand(at now: Int64) { meter = PositionMeter(at: meter.heard(at: now)) }

    // MARK: The player's side

    /// Discards everything that the output has not taken; `job` follows.
    mutating func restart(with job: DecodingJob?) {
        let frame = read
        ring?.truncate(to: frame)
        ring?.refill()
        marks = []
        titles = []
        meter = PositionMeter(at: frame)
        origin = Mark(frame: frame, token: job?.token ?? -1, seconds: job?.start ?? 0, rate: 1)
    }

    /// Removes the samples of the job with `token` and of all after it. Returns false if the output has samples of it
    /// already; `isStepping`: or if a paced step that ends at the job is under way.
    mutating func withdraw(from token: Int, isStepping: Bool) -> Bool {
        guard let index = marks.firstIndex(where: { $0.token == token }), let ring else { return true }
        let frame = marks[index].frame
        guard index > 0, frame > ring.read || (frame == ring.read && !isStepping) else { return false }
        ring.truncate(to: frame)
        marks.removeSubrange(index...)
        titles.removeAll { $0.token >= token }
        return true
    }

    /// Returns the job that is heard at `now`, and the seconds of its item heard so far.
    func position(at now: Int64) -> (token: Int, elapsed: Double) {
        let heard = meter.heard(at: now)
        guard let first = marks.first else { return (origin.token, origin.seconds) }
        let mark = marks.last { $0.frame <= heard } ?? first
        return (mark.token, mark.seconds + Double(max(0, heard - mark.frame)) / Double(mark.rate))
    }

    /// Whether the position advances by itself.
    func isAdvancing(at now: Int64) -> Bool { meter.isRunning(at: now) }

    /// Whether an item or a title is heard that began since the last ``forgetHeard(at:)``.
    func hasCrossed(at now: Int64) -> Bool {
        let heard = meter.heard(at: now)
        return marks.count > 1 && marks[1].frame <= heard || titles.contains { !$0.isTold && $0.frame <= heard }
    }

    /// Returns the bit rate of the item that is heard at `now`, in kbit/s; nil if it is unknown.
    func bitrate(at now: Int64) -> Int? {
        let heard = meter.heard(at: now)
        return (marks.last { $0.frame <= heard } ?? marks.first)?.bitrate
    }

    /// Returns the title of the live stream that is heard at `now`; nil if there is none.
    func title(at now: Int64) -> String? {
        let heard = meter.heard(at: now)
        let token = position(at: now).token
        return titles.last { $0.frame <= heard && $0.token == token }?.text
    }

    /// Marks the titles that are heard as reported to the player.
    mutating func tellTitles(at now: Int64) {
        let heard = meter.heard(at: now)
        for index in titles.indices where titles[index].frame <= heard { titles[index].isTold = true }
    }

    /// Forgets the items and titles before those that are heard.
    mutating func forgetHeard(at now: Int64) {
        let heard = meter.heard(at: now)
        if let current = titles.lastIndex(where: { $0.frame <= heard }) { titles.removeFirst(current) }
        if let current = marks.lastIndex(where: { $0.frame <= heard }), current > 0 { marks.removeFirst(current) }
    }

    /// Returns the seconds that are decoded but not heard.
    func buffered(at now: Int64) -> Double {
        ring.map { Double(max(0, $0.written - meter.heard(at: now))) / Double($0.format.rate) } ?? 0
    }
}
