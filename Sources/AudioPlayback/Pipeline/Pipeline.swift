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

    init(latency: Duration, format: AudioFormat?, gain: Int32, onReport: @escaping @Sendable () -> Void) {
        self.latency = latency
        self.format = format
        reports = ReportSignal(onReport)
        monitor = Monitor(PipelineState(latency: latency, gain: gain, rooms: rooms, reports: reports), rooms)
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
