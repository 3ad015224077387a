package import BackgrounderAPI
package import FoundationEssentials
package import Logging
import ServiceLifecycle
import SystemSupport

/// The location mode: receives fixes from its source, filters them, stores them, and then publishes them.
///
/// Storing comes first: status, track and events show only what the journal has. If the journal fails, tracking continues; the
/// points wait in memory and are part of the next commit.
///
/// Runs on ``SourceExecutor``.
package actor LocationManager: Service {
    enum Phase {
        case created, running, ended
    }

    /// The source that is open.
    struct Run {
        var id: Int
        var control: SourceControl
    }

    var source: LocationSource
    /// The newest state; evidence since the last fix may not be stored yet.
    var state: LocationCheckpoint
    var track: Track
    var monitor = QualityMonitor()
    var connection = SourceConnection.off
    var phase = Phase.created
    var isSuspended = false
    /// Whether a replay reached its end; it stays finished through a suspension.
    var isFinished = false
    var run: Run?
    var runCount = 0
    let turn = Turn()
    /// Accepted points that could not be stored yet.
    var unsaved: [Location] = []
    /// When writing the journal began to fail, in seconds of `elapsed`; `nil` while it works.
    var failingSince: Double?
    var skippedLines = 0
    /// The rest during which the source is disconnected; `nil` while it reads.
    var rest: Rest?
    var hasLoggedRest = false
    var hasDoubtedDate = false

    /// The number of accepted points that may wait in memory while the journal cannot be written.
    static let unsavedLimit = 10_000

    let journal: any LocationJournal
    let recorder: GPSDRecorder?
    let elapsed: @Sendable () -> Double
    let now: @Sendable () -> Date
    let restOfLevel: @Sendable (DesiredAccuracy) -> Duration?
    let logger: Logger
    let onEvent: @Sendable (LocationEvent) -> Void
    let mailbox = Mailbox()
    let executor = SourceExecutor()
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Creates a manager that continues from `checkpoint`. Without one it tracks as soon as it runs.
    ///
    /// - Parameters:
    ///   - settings: take precedence over those of the checkpoint.
    ///   - track: the newest accepted points, oldest first.
    ///   - now: the machine's clock.
    ///   - rest: how long a live source disconnects after a delivered fix.
    ///   - recorder: receives every line of gpsd.
    ///   - onEvent: called in the order of events; must return immediately, unless the event says otherwise.
    package init(
        settings: LocationSettings,
        source: LocationSource,
        checkpoint: LocationCheckpoint?,
        track: [Location],
        journal: any LocationJournal,
        clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Date = { Date() },
        rest: @escaping @Sendable (DesiredAccuracy) -> Duration? = { $0.rest },
        logger: Logger,
        recorder: GPSDRecorder? = nil,
        onEvent: @escaping @Sendable (LocationEvent) -> Void
    ) {
        var state = checkpoint ?? LocationCheckpoint(source: source.identity)
        state.filter.settings = settings
        // The clock of a log starts with the log, not with the process.
        if case .gpsdLog = source {} else { state.filter.restart() }
        if state.source != source.identity { state.changeSource(to: source) }
        self.state = state
        self.source = source
        self.track = Track(track)
        self.journal = journal
        self.recorder = recorder
        self.logger = logger
        self.onEvent = onEvent
        self.now = now
        restOfLevel = rest
        let stopwatch = clock.stopwatch()
        elapsed = { stopwatch() / .seconds(1) }
    }

    /// Tracks until the graceful shutdown.
    package func run() async throws {
        guard phase == .created else { return }
        phase = .running
        openSource()
        await withTaskCancellationOrGracefulShutdownHandler {
            await withTaskExecutorPreference(executor) { await receiveAll() }
        } onCancelOrGracefulShutdown: { [mailbox] in
            mailbox.finish()
        }
        await turn.begin()
        defer { turn.end() }
        closeSource()
        phase = .ended
        connection = .off
        var next = state
        next.replay?.end(.stopped)
        await commit([], next, durable: true)
    }

    /// Returns the status.
    package func status() -> LocationStatus {
        let settings = state.filter.settings
        return LocationStatus(
            updating: state.updating,
            source: source.description,
            connection: connection,
            quality: connection == .off ? nil : monitor.quality,
            qualityDetail: connection == .off ? nil : rest?.detail ?? monitor.detail,
            desiredAccuracy: settings.desiredAccuracy,
            target: settings.desiredAccuracy.target,
            acceptLimit: settings.desiredAccuracy.acceptLimit,
            maximumAccuracy: settings.maximumAccuracy,
            distanceFilter: settings.distanceFilter,
            jitterGuard: settings.jitterGuard,
            received: state.counts.received,
            accepted: state.counts.accepted,
            rejected: state.counts.rejected,
            waiting: unsaved.count,
            dropped: state.counts.dropped,
            lastFix: track.newest,
            lastRejection: state.lastRejection,
            trackCount: track.count,
            trip: trip
        )
    }

    private var trip: TripProgress? {
        guard connection != .finished else { return nil }
        // The points of a replay are of any day, so the time since the newest one is not a gap.
        return state.trips?.progress(at: source.isLive ? Date() : .distantPast)
    }

    /// Returns what the storage `problems` mean for the points: how many wait, and how long the memory lasts.
    package func health(_ problems: [StorageProblem]) -> StorageHealth {
        let seconds = failingSince.map { elapsed() - $0 } ?? 0
        let room = Double(Self.unsavedLimit - unsaved.count)
        return StorageHealth(
            problems: problems,
            waiting: unsaved.count,
            capacity: Self.unsavedLimit,
            // A single point has no rate.
            lasts: unsaved.count > 1 && seconds > 0 ? (room / Double(unsaved.count) * seconds).rounded() : nil,
            dropped: state.counts.dropped
        )
    }

    /// Stores the points that wait in memory. Call it when the journal can be written again.
    package func storeWaiting() async {
        await turn.begin()
        defer { turn.end() }
        guard failingSince != nil else { return }
        await commit([], state, durable: true)
        if failingSince == nil { onEvent(.changed) }
    }

    /// Returns the newest `count` points of the rolling track, oldest first.
    package func track(last count: Int) -> [Location] {
        track.last(count)
    }
}
