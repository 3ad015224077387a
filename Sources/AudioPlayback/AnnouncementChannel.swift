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

/// An announcement on its way from the decoder to the output.
struct PlayingAnnouncement {
    var job: AnnouncementJob
    /// The lease of the decoder that works on it; nil before it starts, or if another is to start.
    var lease: Int?
    /// Samples in the format of the device; frame 0 is the job's start.
    var ring: SampleRing?
    var meter = PositionMeter(at: 0)
    var isFilling = true
    /// The decoder has reached the end.
    var isDecoded = false
    /// Enough has been decoded to begin, or to continue.
    var isPrimed = false
    var hasBegun = false
    /// When the output, or the listener, began to wait for the file.
    var starvedSince: Int64?

    /// Returns the seconds of the file heard at `now`.
    func elapsed(at now: Int64) -> Double {
        job.start + Double(meter.heard(at: now)) / Double(ring?.format.rate ?? 1)
    }
}

/// The pipeline's state of announcements. While there is none, only two of its fields are read.
struct AnnouncementChannel {
    var current: PlayingAnnouncement?
    /// Others wait after the current one.
    var isFollowed = false
    /// Between two announcements, the music stays as it was during the first.
    var hold: MusicBeneath?
    /// The current level of the music.
    var level = fullLevel
    /// The device was opened for an announcement and has played nothing else.
    var ownsDevice = false

    /// The tokens of the newest announcement that began, and of the newest that played to its end.
    var begun = 0
    var ended = 0
    /// An announcement that ended, kept so that the output thread does not free its memory.
    var spent: PlayingAnnouncement?
    var reports: [AnnouncementReport] = []

    var nextLease = 0
    var thread = 0
    var hasThread = false
    /// Abandoned threads that still hang on a disk.
    var stuckThreads = 0

    /// Whether the device is needed even without music.
    var holdsDevice: Bool { current?.isPrimed == true || current?.hasBegun == true || hold != nil }

    /// The treatment of the music now; nil without an announcement.
    var beneath: MusicBeneath? {
        if let current, current.hasBegun { return current.job.music }
        return hold
    }
}

/// A decoder's report about an announcement.
enum AnnouncementReport {
    /// The announcement plays, but something is wrong with it.
    case faulty(AnnouncementJob, DecodingFault)
    /// The announcement cannot be opened.
    case failed(AnnouncementJob, reason: String)
}

/// The sound that is heard.
enum Floor: Equatable {
    case music
    case announcement
    /// Neither: the music is held, and the announcement has no samples yet.
    case nobody
}

/// The contents of an output step.
struct StepContents {
    var music: Bool
    /// The token of the announcement in it.
    var announcement: Int?
}

/// The current step of the paced device.
struct Pacing {
    let contents: StepContents
    let frames: Int
    let rate: Int
    /// The start, in nanoseconds of the monotonic clock.
    let since: Int64

    var end: Int64 { since + Int64(Double(frames) * 1e9 / Double(rate)) }
}
