/// One announcement to decode and give, from `start` seconds on. After a loss of the device it is given again as another.
struct AnnouncementJob: Hashable, Sendable {
    /// The announcement's, also when it is given again.
    let token: Int
    let path: String
    var start: Double
    let music: MusicBeneath
}

/// What the music does meanwhile.
enum MusicBeneath: Hashable, Sendable {
    /// It stands still at the frame where it was.
    case held
    /// It goes on, multiplied with so many parts of ``fullLevel``.
    case ducked(Int32)

    var level: Int32 {
        switch self {
        case .held: fullLevel
        case .ducked(let level): level
        }
    }
}

/// The decoder's right to an announcement; it ends when somebody wants it otherwise.
struct AnnouncementLease: Hashable, Sendable {
    let number: Int
    let job: AnnouncementJob
}

/// An announcement on its way from the decoder to the output.
struct PlayingAnnouncement {
    var job: AnnouncementJob
    /// The decoder that works at it; none has begun, or another shall.
    var lease: Int?
    /// In the format of the device; its frames are counted from 0 at the job's start.
    var ring: SampleRing?
    var meter = PositionMeter(at: 0)
    var isFilling = true
    /// All of it is in the ring, or was.
    var isDecoded = false
    /// Enough was decoded ahead to begin, or to go on.
    var isPrimed = false
    var hasBegun = false
    /// Since when the output, or the listener, has waited for the file.
    var starvedSince: Int64?

    /// Seconds of the file that have been heard.
    func elapsed(at now: Int64) -> Double {
        job.start + Double(meter.heard(at: now)) / Double(ring?.format.rate ?? 1)
    }
}

/// What is in the pipeline's state about announcements. While there is none, nobody looks at more than two of its fields.
struct AnnouncementChannel {
    var current: PlayingAnnouncement?
    /// Others wait behind the current one.
    var isFollowed = false
    /// Between two announcements the music stays as it was under the first.
    var hold: MusicBeneath?
    /// What the music is multiplied with now.
    var level = fullLevel
    /// The device was opened for an announcement and nothing else has been given to it.
    var ownsDevice = false

    /// Tokens of the newest that began, and of the newest that was given whole.
    var begun = 0
    var ended = 0
    /// One that ended, kept so that its memory is given back by another thread than the output's.
    var spent: PlayingAnnouncement?
    var reports: [AnnouncementReport] = []

    var nextLease = 0
    var thread = 0
    var hasThread = false
    /// Abandoned threads that are still held by a disk.
    var stuckThreads = 0

    /// The device is needed, whatever the music does.
    var holdsDevice: Bool { current?.isPrimed == true || current?.hasBegun == true || hold != nil }

    /// What becomes of the music now; `nil` when it is alone.
    var beneath: MusicBeneath? {
        if let current, current.hasBegun { return current.job.music }
        return hold
    }
}

/// What the decoder says about an announcement.
enum AnnouncementReport {
    /// It can be heard, and this was wrong with it.
    case faulty(AnnouncementJob, DecodingFault)
    /// It cannot be opened.
    case failed(AnnouncementJob, reason: String)
}

/// Who is heard.
enum Floor: Equatable {
    case music
    case announcement
    /// Nobody: the music is held, and the announcement's samples have not come yet.
    case nobody
}

/// What a step of the output consists of.
struct StepContents {
    var music: Bool
    /// The token of the announcement in it.
    var announcement: Int?
}

/// A step of the paced device that is under way.
struct Pacing {
    let contents: StepContents
    let frames: Int
    let rate: Int
    /// In nanoseconds of the monotonic clock.
    let since: Int64

    var end: Int64 { since + Int64(Double(frames) * 1e9 / Double(rate)) }
}
