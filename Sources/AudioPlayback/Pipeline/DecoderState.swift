import MediaFiles
import SystemSupport

/// An item to decode from `start` seconds on. Each job has its own token: playing an item again is another job.
struct DecodingJob: Hashable, Sendable {
    let token: Int
    let itemID: Int
    let path: String
    var start: Double

    /// Returns the job for a live stream, which starts now.
    func live() -> DecodingJob {
        var job = self
        job.start = 0
        return job
    }
}

/// The decoder thread's next step. Two orders of one epoch join without a gap.
enum DecoderOrder {
    case decode(DecodingJob, epoch: Int)
    /// Nothing follows the item that ended: deliver its last samples.
    case endTail(epoch: Int)
}

/// A report of the decoder about a job.
enum DecoderReport {
    /// The item plays, but something is wrong with it.
    case faulty(DecodingJob, DecodingFault)
    /// An item from the network has begun to arrive.
    case described(DecodingJob, Metadata, LiveStream?)
    /// The item cannot be opened.
    case failed(DecodingJob, reason: String)
}

/// A stream without an end, as its server describes it.
struct LiveStream: Hashable {
    /// The name that the station gives itself.
    var station: String?
}

/// The decoder's jobs: the one in work, the one after it, and what became of them.
struct DecoderState {
    /// Tuned: keeps a repeated item of a few frames from being opened thousands of times a second. After this many items
    /// under 50 ms in a row, the next ones start at least that far apart; longer items still join without a gap.
    private static let shortJobsInARow = 50
    private static let openingInterval: Int64 = 50_000_000

    private var upcoming: DecodingJob?
    /// The token of the job in work.
    private var current: Int?
    /// The network connection of the job in work.
    private var stream: WebStream?
    /// Nothing follows the jobs given so far.
    private var isLast = false
    /// Counts the restarts; samples of an earlier epoch are discarded.
    private(set) var epoch = 0
    /// The resampler holds the last samples of an item that has ended. The next job may be in work already.
    private(set) var hasTail = false
    /// Frames of the current job, and the number of very short jobs in a row.
    private var frames = 0
    private var shortJobs = 0
    /// The earliest time to open the next job, after too many short ones.
    private var nextOpening: Int64 = 0
    private var reports: [DecoderReport] = []

    /// Whether everything asked for has been decoded, and nothing follows.
    var isAtEnd: Bool { upcoming == nil && current == nil && !hasTail && isLast }

    func isWanted(_ job: DecodingJob) -> Bool { current == job.token }

    // MARK: The decoder's side

    mutating func nextOrder() -> WaitStep<DecoderOrder?> {
        guard let job = upcoming else { return hasTail && isLast ? .done(.endTail(epoch: epoch)) : .wait() }
        if shortJobs > Self.shortJobsInARow {
            guard MonotonicTime.now.nanoseconds >= nextOpening else { return .wait(until: nextOpening) }
            nextOpening = MonotonicTime.now.nanoseconds + Self.openingInterval
        }
        frames = 0
        upcoming = nil
        current = job.token
        return .done(.decode(job, epoch: epoch))
    }

    /// The job in work reads from `stream`. Returns false if it is no longer wanted.
    mutating func read(_ job: DecodingJob, from stream: WebStream) -> Bool {
        guard isWanted(job) else { return false }
        self.stream = stream
        return true
    }

    mutating func described(_ job: DecodingJob, _ metadata: Metadata, _ live: LiveStream?) {
        reports.append(.described(job, metadata, live))
    }

    /// Ends the connection of a job that is no longer wanted, or has ended.
    private mutating func endStream() {
        stream?.cancel()
        stream = nil
    }

    mutating func decoded(_ count: Int) { frames += count }

    /// Ends a job; `rate` is that of its samples.
    mutating func finish(_ job: DecodingJob, _ fault: DecodingFault?, hasTail: Bool, rate: Int) {
        if let fault { reports.append(.faulty(job, fault)) }
        shortJobs = frames < rate / 20 ? shortJobs + 1 : 0
        guard isWanted(job) else { return }
        current = nil
        endStream()
        self.hasTail = hasTail
    }

    mutating func fail(_ job: DecodingJob, _ reason: String) {
        reports.append(.failed(job, reason: reason))
        guard isWanted(job) else { return }
        current = nil
        endStream()
    }

    mutating func endTail() { hasTail = false }

    // MARK: The player's side

    /// The job whose sound has not arrived from the network, and why; nil if no job waits for it.
    var lateStream: (token: Int, reason: String)? {
        guard let current, let reason = stream?.waitReason else { return nil }
        return (current, reason)
    }

    /// Whether the job in work reads from the network.
    var hasStream: Bool { stream != nil }

    /// The service ends.
    mutating func shutDown() {
        current = nil
        endStream()
    }

    /// Discards all jobs and begins another epoch with `job`.
    mutating func restart(with job: DecodingJob?) {
        upcoming = job
        current = nil
        endStream()
        isLast = false
        epoch += 1
        hasTail = false
        shortJobs = 0
    }

    /// Adds the next job. Returns false while the decoder has not begun the previous one.
    mutating func offer(_ job: DecodingJob) -> Bool {
        guard upcoming == nil else { return false }
        upcoming = job
        isLast = false
        return true
    }

    /// Sets whether the newest job is the last one. Returns whether that is a change.
    mutating func setLast(_ isLast: Bool) -> Bool {
        defer { self.isLast = isLast }
        return self.isLast != isLast
    }

    /// Withdraws the job with `token` and all after it.
    mutating func withdraw(from token: Int) {
        if let current, current >= token {
            self.current = nil
            endStream()
        }
        if let upcoming, upcoming.token >= token { self.upcoming = nil }
    }

    /// Returns the reports since the last call.
    mutating func takeReports() -> [DecoderReport] {
        defer { reports = [] }
        return reports
    }
}
