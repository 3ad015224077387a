package import BackgrounderAPI
import FoundationEssentials
package import Logging
import ServiceLifecycle

/// The audio mode: plays a queue of files through libao, without gaps between items of one format.
///
///     let player = QueuePlayer(configuration: audio, queue: items, state: state, journal: store,
///                              clock: clock, logger: logger) { event in events.yield(event) }
///     async let service: Void = player.run()
///     try await player.play()
///
/// Commands return promptly, even if a disk or the sound server hangs: one thread reads files, another calls libao, and no
/// command waits for either. The effect of a command is in the journal before the command returns and before its event.
package actor QueuePlayer: Service {
    /// The requested status. The actual one is ``AudioStatus/timeControlStatus``.
    enum Intent { case playing, paused, stopped }
    /// Why the device is being closed.
    enum Ending { case queue, command }

    /// Tuned: the largest time in seconds; no item is longer, and its frames at any rate fit a 64-bit integer.
    static var latestTime: Double { 1e7 }

    let configuration: AudioConfiguration
    let journal: any PlayerJournal
    let clock: any Clock<Duration>
    let logger: Logger
    let onEvent: @Sendable (PlayerEvent) -> Void
    let pipeline: Pipeline
    let opener: DeviceOpener
    let probes: DriverProbes
    private let reports: AsyncStream<Void>
    let reportEnd: AsyncStream<Void>.Continuation

    var list: PlayerQueue
    var intent: Intent
    var isSuspended = false
    /// The start position of the current item while the decoder has no job.
    var position: Double
    /// The decoder's jobs: the current item, then those after it.
    var chain: [DecodingJob] = []
    var nextToken = 0
    /// Why items could not be opened, by id. They are skipped until the next play command.
    var unplayable: [Int: String] = [:]
    var reportedFaults: Set<Int> = []
    var ending: Ending?
    var isShuttingDown = false
    var closeWaiters: [Int: CheckedContinuation<Void, Never>] = [:]

    var announcements = AnnouncementLine()
    var outage: Outage?
    var hasDecoderThread = false
    var hasOutputThread = false
    var hasKeeper = false
    var outputNumber = 0
    var watchdog: Task<Void, Never>?
    var probe: Task<Void, Never>?
    var probeDelay: Duration = .zero
    var interruptions = 0
    var lastDevice: OpenDevice?
    /// A device has made sound: from then on the player waits for a lost one instead of playing in silence.
    var hadSound = false

    var lastError: PlaybackError?
    /// The item in the last event.
    var toldCurrentID: Int?
    var shownStatus = TimeControlStatus.stopped
    var since = Date()

    var unsaved = Unsaved()
    var unsentEvents: [PlayerEvent] = []
    var lastCommit: Task<Void, Never>?
    var journalFailure: JournalFailure?
    /// The number of the state last passed to the journal.
    var generation: Int

    var observers: [Int: TimeObserver] = [:]
    var observerTicker: Task<Void, Never>?
    var hasJumped = false
    var nextObserver = 0

    let mediaFolder: MediaFolder
    let metadataReader = MetadataReader()
    var metadataTask: Task<Void, Never>?
    /// Items whose files yielded no metadata before this start, and since.
    let unreadable: Set<Int>
    var lookedAt: Set<Int> = []
    /// Items with lower ids have been read.
    var nextDescribedID = 0

    /// Creates a player with a stored queue and state; ``run()`` starts it.
    ///
    /// - Parameters:
    ///   - queue: the stored items, or none.
    ///   - unreadable: the ids of items whose files yielded no metadata.
    ///   - state: if it is `playing`, ``run()`` starts to play.
    ///   - clock: used for waits only.
    ///   - onEvent: called in the order of the events, after each was stored.
    package init(
        configuration: AudioConfiguration,
        queue: [PlayerItem],
        unreadable: Set<Int> = [],
        state: PlayerState,
        journal: any PlayerJournal,
        clock: any Clock<Duration>,
        logger: Logger,
        onEvent: @escaping @Sendable (PlayerEvent) -> Void
    ) {
        AudioLibrary.prepare(latency: configuration.latency)
        self.configuration = configuration
        self.journal = journal
        self.unreadable = unreadable
        mediaFolder = MediaFolder(logger: logger)
        self.clock = clock
        self.logger = logger
        self.onEvent = onEvent
        list = PlayerQueue(items: queue, state: state)
        toldCurrentID = self.list.currentID
        generation = state.generation
        let isAtItem = state.currentItemID == self.list.currentID && state.elapsed.isFinite
        position = isAtItem ? min(max(0, state.elapsed), Self.latestTime) : 0
        intent =
            switch state.timeControlStatus {
            case .playing, .waiting: .playing
            case .paused: .paused
            case .stopped: .stopped
            }
        let (reports, reportEnd) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.reports = reports
        self.reportEnd = reportEnd
        opener = DeviceOpener(configuration.driver)
        pipeline = Pipeline(
            latency: configuration.latency,
            format: configuration.format,
            gain: Self.gain(volume: state.options.volume)
        ) { reportEnd.yield() }
        pipeline.setReplayGain(state.options.effectiveReplayGain)
        probes = DriverProbes(clock: clock)
    }

    deinit { pipeline.shutDown() }

    /// Runs until the graceful shutdown, or until its task is cancelled. Closes the device and completes its file within
    /// 1.5 s, even if the sound server hangs.
    package func run() async throws {
        startKeeperIfNeeded()
        // A command may have arrived before.
        if intent == .playing, chain.isEmpty, ending == nil {
            if let item = list.selectFirst() { start(item, at: position) } else { intent = .stopped }
        }
        // The journal already has this state.
        keepPosition()
        await commit()
        describeNewItems()
        // In a task of its own, so that reports are handled until the device is closed, even if this task is cancelled.
        let loop = Task { for await _ in reports { await handleReports() } }
        await withTaskCancellationOrGracefulShutdownHandler {
            await loop.value
        } onCancelOrGracefulShutdown: {
            Task { await self.beginShutDown() }
        }
    }

    private func handleReports() async {
        if isShuttingDown {
            if pipeline.takeClosed() { reportEnd.finish() }
            return
        }
        settle()
        await commit()
        wakeObservers()
    }

    private func beginShutDown() async {
        guard !isShuttingDown else { return }
        settle()
        isShuttingDown = true
        unsaved.state = true
        for task in [watchdog, probe, metadataTask, observerTicker, journalFailure?.retry] { task?.cancel() }
        for observer in observers.values { observer.continuation.finish() }
        _ = pipeline.takeClosed()
        let clock = clock
        let reportEnd = reportEnd
        let deadline = Task {
            // Tuned: the service has 2 s to stop all of its parts.
            try? await clock.sleep(for: .milliseconds(1_200))
            reportEnd.finish()
        }
        await commit()
        pipeline.shutDown()
        guard hasOutputThread else {
            deadline.cancel()
            return reportEnd.finish()
        }
    }

    // MARK: Status

    /// Returns the status once it is stored, so that a reader sees nothing that a crash would take back.
    package func status() async -> AudioStatus {
        await shown()
        return present()
    }

    func present() -> AudioStatus {
        let snapshot = pipeline.snapshot()
        let device = snapshot.device ?? lastDevice
        return AudioStatus(
            timeControlStatus: timeControlStatus,
            currentItem: list.current,
            elapsed: elapsed,
            driver: device?.driver ?? configuration.driver.shortName,
            device: outage?.reason ?? device?.description,
            format: snapshot.device.map { "\($0.format)" },
            buffered: snapshot.buffered,
            volume: list.options.volume,
            repeat: list.options.repeat,
            single: list.options.single,
            consume: list.options.consume,
            random: list.options.random,
            replayGain: list.options.replayGain,
            underruns: snapshot.underruns,
            interruptions: interruptions,
            since: since,
            lastError: lastError,
            announcement: announcementStatus,
            announcements: waitingAnnouncements
        )
    }

    var timeControlStatus: TimeControlStatus {
        if ending != nil { return .playing }
        return switch intent {
        case .stopped: .stopped
        case .paused: .paused
        case .playing where isSuspended: .paused
        case .playing: outage == nil ? .playing : .waiting
        }
    }

    /// Seconds of the current item heard so far.
    var elapsed: Double? {
        guard let current = list.current, intent != .stopped || ending != nil else { return nil }
        guard let first = chain.first else { return position }
        let snapshot = pipeline.snapshot()
        let seconds = snapshot.token == first.token ? snapshot.elapsed : current.duration ?? 0
        return min(seconds, max(current.duration ?? .infinity, first.start))
    }

    static func gain(volume: Int) -> Int32 {
        let part = Double(min(max(volume, 0), 100)) / 100
        return Int32((part * part * part * 65_536).rounded())
    }
}
