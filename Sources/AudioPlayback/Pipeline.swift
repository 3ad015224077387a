import BackgrounderAPI
import Dispatch

/// An item to decode from `start` seconds on. Each job has its own token: playing an item again is another job.
struct DecodingJob: Hashable, Sendable {
    let token: Int
    let itemID: Int
    let path: String
    let start: Double
}

/// The state that decoder, output and player share: jobs flow in one direction, samples and reports in the other.
///
/// ```
/// player ──jobs──▶ decoder thread ──ring + marks──▶ output thread ──▶ device
///    ▲───────────────── reports ◀──────────────────────────┘
/// ```
/// None of the three calls another. Each changes this state under its lock and continues, so a decoder that hangs on a
/// disk, or an output that hangs in a sound server, delays no command.
final class Pipeline: Sendable {
    let monitor: Monitor<PipelineState>
    let reports: ReportSignal
    /// How much sound a live device holds.
    let latency: Duration
    /// The format that everything is resampled to, if one is configured.
    let format: AudioFormat?

    init(latency: Duration, format: AudioFormat?, gain: Int32, onReport: @escaping @Sendable () -> Void) {
        self.latency = latency
        self.format = format
        monitor = Monitor(PipelineState(latency: latency, gain: gain))
        reports = ReportSignal(onReport)
    }
}

/// Tells the player that there are reports. Signals in quick succession are merged.
final class ReportSignal: Sendable {
    /// A dispatch source takes a signal without locking or allocating; the output thread must do neither.
    private nonisolated(unsafe) let source: any DispatchSourceUserDataOr  // dispatch sources are safe on any thread

    init(_ handler: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeUserDataOrSource(queue: DispatchQueue(label: "audio reports"))
        source.setEventHandler(handler: handler)
        source.activate()
    }

    deinit { source.cancel() }

    func send() { source.or(data: 1) }
}

/// The state that a ``Pipeline``'s lock protects.
struct PipelineState {
    // Set by the player
    var upcoming: DecodingJob?
    /// Nothing follows the decoded samples.
    var isLast = false
    var isPlaying = false
    var closeRequested = false
    /// False while the player backs off before the next attempt to open the device.
    var mayOpen = true
    var reach = DeviceReach.any
    /// A better device was found: leave the fallback when the next item begins.
    var leaveFallback = false
    /// The volume as a factor in parts of 65,536.
    var gain: Int32
    /// The replay gain to apply; never `auto`.
    var replayGain = ReplayGainMode.off
    var isShutDown = false
    let latency: Duration

    // Set by the decoder
    var decoding: Int?
    /// Counts the restarts; samples of an earlier epoch are discarded.
    var epoch = 0
    /// The resampler holds the last samples of an item that has ended.
    var hasTail = false
    /// Frames of the current job, and the number of very short jobs in a row.
    var decodedFrames = 0
    var shortJobs = 0
    /// The earliest time to open the next job, after too many short ones.
    var nextOpening: Int64 = 0
    var isFilling = true
    var decoderReports: [DecoderReport] = []

    // Between decoder and output
    var ring: SampleRing?
    /// Where items and formats begin, in order; the first one is heard now.
    var marks: [Mark] = []
    /// The position to show until something has been decoded.
    var origin = Mark(frame: 0, token: -1, seconds: 0, rate: 1)
    var meter = PositionMeter(at: 0)
    /// The decoder waits for the ring to run empty, because the next samples have another format.
    var wantsDrain = false

    var announcements = AnnouncementChannel()

    var keeper = KeeperState()

    // Set by the output
    var owner = 0
    var device: OpenDevice?
    var busy: (activity: OutputActivity, since: Int64)?
    /// Enough has been decoded since the last start to begin playing.
    var isPrimed = false
    var isStarved = false
    var pacing: Pacing?
    var pacedUntil: Int64 = 0
    var givenSinceOpen = 0
    /// The player has been told that the sound runs.
    var isProgressTold = false
    /// The contents of the step that is being handed to the device.
    var giving = StepContents(music: true)
    /// Frames handed over since the device was opened: of the music, of the music since an announcement that held it, and
    /// of that announcement.
    var musicSinceOpen = 0
    var musicRun = 0
    var announcedRun = 0
    /// Everything that was asked for has been handed to the device.
    var isDrained = false
    /// The device is closed, either on request or because the output thread has ended.
    var isClosed = false
    var failure: OutputFailure?
    var underruns = 0
    /// Abandoned threads that still hang in the sound server.
    var stuckThreads = 0

    init(latency: Duration, gain: Int32) {
        self.latency = latency
        self.gain = gain
    }
}

/// The start of a job's samples in the ring: from `frame` on they belong to `token`, at `seconds` in its item.
struct Mark: Hashable {
    let frame: Int
    let token: Int
    let seconds: Double
    let rate: Int
    var replayGain = ReplayGain()
}

/// A report of the decoder about a job.
enum DecoderReport {
    /// The item plays, but something is wrong with it.
    case faulty(DecodingJob, DecodingFault)
    /// The item cannot be opened.
    case failed(DecodingJob, reason: String)
}

enum OutputActivity: Hashable { case opening, playing, closing }

enum OutputFailure: Hashable {
    /// The device took no more samples: the sound server disappeared or the disk is full. The error number is 0 if unknown.
    case lost(OpenDevice?, CInt)
    case notOpened(reason: String)
}

/// An open device, as the status shows it and as the output treats it.
struct OpenDevice: Hashable, Sendable {
    enum Kind: Sendable { case live, file, paced }
    let kind: Kind
    let driver: String
    let description: String
    /// Whether `auto` chose it because it found nothing better.
    let isFallback: Bool
    let format: AudioFormat
}
