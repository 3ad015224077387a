import Dispatch
import MediaFiles

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
    let rooms = WaitingRooms()
    let reports: ReportSignal
    /// How much sound a live device holds.
    let latency: Duration
    /// The format that everything is resampled to, if one is configured.
    let format: AudioFormat?
    /// Opens items from the network; nil if there is none.
    private let web: WebStreams?

    init(
        latency: Duration,
        format: AudioFormat?,
        gain: Int32,
        web: WebStreams? = nil,
        onReport: @escaping @Sendable () -> Void
    ) {
        self.latency = latency
        self.format = format
        self.web = web
        reports = ReportSignal(onReport)
        monitor = Monitor(PipelineState(latency: latency, gain: gain, rooms: rooms, reports: reports), rooms)
    }
}

extension Pipeline {
    /// Starts to read the sound of a job from the network. Returns nil if it is no longer wanted, or failed.
    func openStream(of job: DecodingJob) -> WebStream? {
        guard let web else {
            fail(job, reason: "there is no network")
            return nil
        }
        let stream = web.open(job.path) { [reports] in reports.send() }
        guard monitor.withLock({ $0.decoder.read(job, from: stream) }) else {
            stream.cancel()
            return nil
        }
        // The player shows what it waits for.
        reports.send()
        return stream
    }

    /// Reports what is known of an item from the network.
    func describe(_ job: DecodingJob, _ metadata: Metadata, _ live: LiveStream?) {
        monitor.withLock { $0.decoder.described(job, metadata, live) }
        reports.send()
    }

    /// The samples appended from here on have the title `title`.
    func entitle(_ job: DecodingJob, _ title: String) {
        monitor.withLock { if $0.decoder.isWanted(job) { $0.music.entitle(job, title) } }
    }
}

/// Tells the player that there are reports. Signals in quick succession are merged.
final class ReportSignal: Sendable {
    /// A dispatch source takes a signal without locking or allocating; the output thread must do neither.
    private nonisolated(unsafe) let source: any DispatchSourceUserDataOr  // dispatch sources are safe on any thread

    init(_ handler: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeUserDataOrSource(queue: DispatchQueue(label: "backgrounder.audio.reports"))
        source.setEventHandler(handler: handler)
        source.activate()
    }

    deinit { source.cancel() }

    func send() { source.or(data: 1) }
}
