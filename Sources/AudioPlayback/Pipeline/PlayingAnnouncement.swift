import MediaFiles

/// An announcement to decode and play from `start` seconds on. After the loss of a device it continues as another job.
struct AnnouncementJob: Hashable, Sendable {
    /// The announcement's token, which stays when it continues as another job.
    let token: Int
    let path: String
    var start: Double
    let music: MusicBeneath
}

/// The treatment of the music during an announcement.
enum MusicBeneath: Hashable, Sendable {
    /// The music stands still.
    case held
    /// The music continues at a level, in parts of ``fullLevel``.
    case ducked(Int32)

    var level: Int32 {
        switch self {
        case .held: fullLevel
        case .ducked(let level): level
        }
    }
}

/// A decoder's lease of an announcement. It ends when the announcement is dropped or decoded again.
struct AnnouncementLease: Hashable, Sendable {
    let number: Int
    let job: AnnouncementJob
}

/// A decoder's report about an announcement.
enum AnnouncementReport {
    /// The announcement plays, but something is wrong with it.
    case faulty(AnnouncementJob, DecodingFault)
    /// The announcement cannot be opened.
    case failed(AnnouncementJob, reason: String)
}

/// An announcement on its way from the decoder to the output.
struct PlayingAnnouncement {
    /// The state of the samples.
    private enum Supply {
        /// Too little is decoded to begin or to continue; the output, or the listener, waits since then.
        case awaited(since: Int64)
        case flowing
        /// The decoder has reached the end.
        case complete
    }

    /// Tuned: seconds of an announcement decoded ahead; enough to ride out a slow disk, and little memory.
    private static let seconds = 2
    /// Tuned: the part of a second decoded before an announcement begins; a quarter starts it promptly.
    private static let priming = 4

    let job: AnnouncementJob
    /// The lease of the decoder that works on it; nil before it starts, or if another is to start.
    private(set) var lease: Int?
    /// Samples in the format of the device; frame 0 is the job's start.
    private(set) var ring: SampleRing?
    private(set) var hasBegun = false
    private var meter = PositionMeter(at: 0)
    private var supply: Supply

    init(job: AnnouncementJob, now: Int64) {
        self.job = job
        supply = .awaited(since: now)
    }

    /// When its file stopped delivering samples, in nanoseconds of the monotonic clock; nil while it delivers.
    var awaitedSince: Int64? {
        if case .awaited(let since) = supply { since } else { nil }
    }

    /// Whether enough has been decoded to play.
    var isReady: Bool { awaitedSince == nil }

    var isComplete: Bool {
        if case .complete = supply { true } else { false }
    }

    /// Whether everything was handed over.
    var isAtEnd: Bool { isComplete && ring?.count ?? 0 == 0 }

    /// Returns the seconds of the file heard at `now`.
    func elapsed(at now: Int64) -> Double {
        job.start + Double(meter.heard(at: now)) / Double(ring?.format.rate ?? 1)
    }

    // MARK: The decoder's side

    mutating func lend(_ lease: Int) { self.lease = lease }

    mutating func begin(in format: AudioFormat) { ring = SampleRing(format: format, seconds: Self.seconds) }

    /// Appends up to `frames` frames. Returns how many there was room for.
    mutating func append(_ samples: UnsafePointer<Int16>, frames: Int) -> Int {
        guard let ring, case let count = ring.room(for: frames), count > 0 else { return 0 }
        ring.append(samples, frames: count)
        if case .awaited = supply, ring.count >= ring.format.rate / Self.priming { supply = .flowing }
        return count
    }

    mutating func complete() { supply = .complete }

    // MARK: The output's side

    mutating func starve(at now: Int64) { supply = .awaited(since: now) }

    mutating func begin() { hasBegun = true }

    /// The device has all frames taken so far. It holds at most `buffer` frames, of `handed` since it was opened.
    mutating func handedOver(of handed: Int, buffer: Int, rate: Int, now: Int64) {
        let read = ring?.read ?? 0
        let before = max(0, min(buffer, handed) - read)
        meter.run(from: read - min(buffer, read), to: read, rate: rate, now: now, delay: before)
    }

    /// The next `frames` are heard from `start` on, while they are still in the ring.
    mutating func pace(_ frames: Int, rate: Int, start: Int64) {
        let read = ring?.read ?? 0
        meter.run(from: read, to: read + frames, rate: rate, now: start)
    }

    /// Removes `frames` that have been heard while they were in the ring.
    mutating func skip(_ frames: Int, rate: Int, now: Int64) {
        guard let ring else { return }
        ring.skip(frames)
        meter.run(from: ring.read, to: ring.read, rate: rate, now: now)
    }

    /// The device was lost: the position stays where it is.
    mutating func stand(at now: Int64) { meter = PositionMeter(at: meter.heard(at: now)) }
}
