import BackgrounderAPI
import Dispatch

/// One item to decode, from `start` seconds on. Its token is given once: an item that is played again is another job.
struct DecodingJob: Hashable, Sendable {
    let token: Int
    let itemID: Int
    let path: String
    let start: Double
}

/// What the decoder, the output and the player share: orders in one direction, samples and reports in the other.
///
/// ```
/// player ──jobs──▶ decoder thread ──ring + marks──▶ output thread ──▶ device
///    ▲───────────────── reports ◀──────────────────────────┘
/// ```
/// Nobody calls anybody: each of the three changes this state under its lock and goes on, so that a decoder that hangs
/// on a disk or an output that hangs in a sound server holds up no command.
final class Pipeline: Sendable {
    let monitor: Monitor<PipelineState>
    let reports: ReportSignal
    /// What a live device holds.
    let latency: Duration
    /// What everything is resampled to, if anything.
    let format: AudioFormat?

    init(latency: Duration, format: AudioFormat?, gain: Int32, onReport: @escaping @Sendable () -> Void) {
        self.latency = latency
        self.format = format
        monitor = Monitor(PipelineState(latency: latency, gain: gain))
        reports = ReportSignal(onReport)
    }
}

/// Tells the player that there is something to look at. Signals that come together are one.
final class ReportSignal: Sendable {
    /// A source takes a signal without a lock and without memory, which the output thread may not ask for.
    private nonisolated(unsafe) let source: any DispatchSourceUserDataOr  // sources are made to be used from any thread

    init(_ handler: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeUserDataOrSource(queue: DispatchQueue(label: "audio reports"))
        source.setEventHandler(handler: handler)
        source.activate()
    }

    deinit { source.cancel() }

    func send() { source.or(data: 1) }
}

/// The state behind a ``Pipeline``'s lock.
struct PipelineState {
    // Orders of the player
    var upcoming: DecodingJob?
    /// Nothing follows what has been decoded.
    var isLast = false
    var isPlaying = false
    var closeRequested = false
    /// False while the player lets time pass before the next attempt to open the device.
    var mayOpen = true
    var reach = DeviceReach.any
    /// A better device was found: leave the fallback where the next item begins.
    var leaveFallback = false
    /// Volume as a factor; 65,536 changes nothing.
    var gain: Int32
    /// Which of an item's gains acts, `auto` being decided.
    var replayGain = ReplayGainMode.off
    var isShutDown = false
    let latency: Duration

    // The decoder
    var decoding: Int?
    /// Counts the restarts: what was decoded before one is nobody's any more.
    var epoch = 0
    /// The resampler holds the last samples of an item that has ended.
    var hasTail = false
    /// Frames of the present job, and jobs in a row that were hardly anything.
    var decodedFrames = 0
    var shortJobs = 0
    /// When the next job may be opened, after too many short ones.
    var nextOpening: Int64 = 0
    var isFilling = true
    var decoderReports: [DecoderReport] = []

    // What lies between
    var ring: SampleRing?
    /// Where items (and formats) begin, in order; the first is what is heard.
    var marks: [Mark] = []
    /// What is shown as position while nothing has been decoded yet.
    var origin = Mark(frame: 0, token: -1, seconds: 0, rate: 1)
    var meter = PositionMeter(at: 0)
    /// The decoder waits for the ring to run empty, since the next samples have another format.
    var wantsDrain = false

    var announcements = AnnouncementChannel()

    var keeper = KeeperState()

    // The output
    var owner = 0
    var device: OpenDevice?
    var busy: (activity: OutputActivity, since: Int64)?
    /// Enough was decoded ahead since the last start to begin.
    var isPrimed = false
    var isStarved = false
    var pacing: Pacing?
    var pacedUntil: Int64 = 0
    var givenSinceOpen = 0
    /// The player knows that the sound goes on.
    var isProgressTold = false
    /// What the step that the device is being given consists of.
    var giving = StepContents(music: true)
    /// Frames of the music since the opening, those since an announcement that held it, and those of the announcement.
    var musicSinceOpen = 0
    var musicRun = 0
    var announcedRun = 0
    /// All that was asked for has been given.
    var isDrained = false
    /// The device is closed, as was requested, or because the output thread has ended.
    var isClosed = false
    var failure: OutputFailure?
    var underruns = 0
    /// Abandoned threads that are still held by the sound server.
    var stuckThreads = 0

    init(latency: Duration, gain: Int32) {
        self.latency = latency
        self.gain = gain
    }
}

/// From `frame` on the samples belong to a job, at a time in its item.
struct Mark: Hashable {
    let frame: Int
    let token: Int
    let seconds: Double
    let rate: Int
    var replayGain = ReplayGain()
}

/// What the decoder says about a job.
enum DecoderReport {
    /// It can be played, and this was wrong with it.
    case faulty(DecodingJob, DecodingFault)
    /// It cannot be opened.
    case failed(DecodingJob, reason: String)
}

enum OutputActivity: Hashable { case opening, playing, closing }

enum OutputFailure: Hashable {
    /// The device took no more: the sound server went away, or the disk is full. The error number is 0 where it is unknown.
    case lost(OpenDevice?, CInt)
    case notOpened(reason: String)
}

/// What status shows of a device that is open, and how the output treats it.
struct OpenDevice: Hashable, Sendable {
    enum Kind: Sendable { case live, file, paced }
    let kind: Kind
    let driver: String
    let description: String
    /// It is there because `auto` found nothing better.
    let isFallback: Bool
    let format: AudioFormat
}
