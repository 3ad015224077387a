package import BackgrounderAPI
import FoundationEssentials
package import Logging
import MediaFiles
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
    let configuration: AudioConfiguration
    let journal: any PlayerJournal
    let clock: any Clock<Duration>
    let logger: Logger
    let onEvent: @Sendable (PlayerEvent) -> Void
    let pipeline: Pipeline
    let opener: DeviceOpener
    let probes: DriverProbes
    private let reports: AsyncStream<Void>
    private let reportEnd: AsyncStream<Void>.Continuation
    /// Ends with the shutdown.
    private let life = AsyncStream.makeStream(of: Never.self)

    let mediaResolver: MediaResolver
    let metadataReader = MetadataReader()

    var list: PlayerQueue
    var activity: Activity
    /// The start position of the current item while the decoder has no job.
    var position: Double
    /// The decoder's jobs: the current item, then those after it.
    var chain: [DecodingJob] = []
    var nextToken = 0
    var faults = ItemFaults()
    var closeWaiters = CloseWaiters()

    var announcements = AnnouncementLine()
    /// The callers that wait for the ends of announcements, by token.
    var announcementEnds: [Int: AsyncStream<AnnouncementEnd>.Continuation] = [:]
    var recovery = OutageRecovery()
    var watchdog: Task<Void, Never>?
    var deviceSearch = DeviceSearch()

    var lastError: PlaybackError?
    var shown: ShownStatus
    var writes: JournalQueue
    var observers = TimeObservers()
    var metadata: MetadataQueue
    var news = StreamNews()
    var patience = StreamPatience()

    /// Creates a player with a stored queue and state; ``run()`` starts it.
    ///
    /// - Parameters:
    ///   - queue: the stored items, or none.
    ///   - unreadable: the ids of items whose files yielded no metadata.
    ///   - state: if it is `playing`, ``run()`` starts to play.
    ///   - clock: used for waits only.
    ///   - web: opens items from the network.
    ///   - onEvent: called in the order of the events, after each was stored.
    package init(
        configuration: AudioConfiguration,
        queue: [PlayerItem],
        unreadable: Set<Int> = [],
        state: PlayerState,
        journal: any PlayerJournal,
        clock: any Clock<Duration>,
        web: WebStreams? = nil,
        logger: Logger,
        onEvent: @escaping @Sendable (PlayerEvent) -> Void
    ) {
        AudioLibrary.prepare(latency: configuration.latency)
        self.configuration = configuration
        self.journal = journal
        mediaResolver = MediaResolver(logger: logger)
        self.clock = clock
        self.logger = logger
        self.onEvent = onEvent
        list = PlayerQueue(items: queue, state: state)
        metadata = MetadataQueue(unreadable: unreadable)
        shown = ShownStatus(currentID: list.currentID)
        writes = JournalQueue(generation: state.generation)
        let isAtItem = state.currentItemID == self.list.currentID && state.elapsed.isFinite
        position = isAtItem ? min(max(0, state.elapsed), AudioFormat.latestTime) : 0
        activity = Activity(state.timeControlStatus)
        let (reports, reportEnd) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.reports = reports
        self.reportEnd = reportEnd
        opener = DeviceOpener(configuration.driver)
        pipeline = Pipeline(
            latency: configuration.latency,
            format: configuration.format,
            gain: Self.gain(volume: state.options.volume),
            web: web
        ) { reportEnd.yield() }
        pipeline.setReplayGain(state.options.effectiveReplayGain)
        probes = DriverProbes(clock: clock)
    }

    deinit { pipeline.shutDown() }

    /// Runs until the graceful shutdown, or until its task is cancelled. Closes the device and completes its file within
    /// 1.5 s, even if the sound server hangs.
    package func run() async throws {
        startPositionWriterIfNeeded()
        // A command may have arrived before.
        if activity.playback == .playing, chain.isEmpty {
            if let item = list.selectFirst() { start(item, at: position) } else { activity.playback = .stopped }
        }
        // The journal already has this state.
        trackPosition()
        await commit()
        describeNewItems()
        // In a task of its own, so that reports are handled until the device is closed, even if this task is cancelled. It is not
        // awaited, because a write on a disk that hangs would hold it up.
        Task { for await _ in reports { await receiveReports() } }
        await withTaskCancellationOrGracefulShutdownHandler {
            // In a task of its own, since a cancelled one would not wait.
            await Task { [life] in for await _ in life.stream {} }.value
        } onCancelOrGracefulShutdown: {
            Task { await self.shutDown() }
        }
    }

    private func receiveReports() async {
        handleReports()
        if activity.isShutDown { return }
        await commit()
        wakeObservers()
    }

    /// Closes the device while it stores the state, and ends the reports after both. A device or a disk that hangs delays
    /// that no longer than `shutDownLimit`.
    private func shutDown() async {
        guard !activity.isShutDown else { return }
        handleReports()
        activity.shutDown()
        watchdog?.cancel()
        recovery.cancelRetry()
        deviceSearch.stop()
        metadata.cancel()
        patience.end()
        writes.cancelRetry()
        observers.finish()
        let deadline = Task { [clock, life] in
            guard (try? await clock.sleep(for: Self.shutDownLimit)) != nil else { return }
            life.continuation.finish()
        }
        pipeline.shutDown()
        writes.changeState()
        await commit()
        if pipeline.hasOutputThread { await closing(within: Self.shutDownLimit) }
        deadline.cancel()
        reportEnd.finish()
        life.continuation.finish()
    }

    /// Tuned: the service has 2 s to stop all of its parts.
    private static let shutDownLimit = Duration.milliseconds(1_200)

    // MARK: Status

    /// Returns the status once it is stored, so that a reader sees nothing that a crash would take back.
    package func status() async -> AudioStatus {
        await written()
        return present()
    }

    /// The music that was played since the start, in seconds.
    package var playtime: Double { pipeline.snapshot().playtime }

    func present() -> AudioStatus {
        let snapshot = pipeline.snapshot()
        let device = snapshot.device ?? recovery.lastDevice
        return AudioStatus(
            timeControlStatus: timeControlStatus,
            currentItem: list.current.map(marked),
            elapsed: elapsed,
            driver: device?.driver ?? configuration.driver.shortName,
            device: recovery.reason ?? device?.description,
            format: snapshot.device.map { "\($0.format)" },
            buffered: snapshot.buffered,
            volume: list.options.volume,
            repeat: list.options.repeat,
            single: list.options.single,
            consume: list.options.consume,
            random: list.options.random,
            replayGain: list.options.replayGain,
            outputEnabled: list.options.outputEnabled,
            underruns: snapshot.underruns,
            interruptions: recovery.interruptions,
            since: shown.since,
            lastError: lastError,
            announcement: announcementStatus,
            announcements: waitingAnnouncements,
            bitrate: activity.playback == .stopped ? nil : snapshot.bitrate,
            buffering: activity.isSounding && !recovery.isWaiting ? snapshot.late?.reason : nil
        )
    }

    var timeControlStatus: TimeControlStatus {
        switch activity.playback {
        case .stopped: .stopped
        case .paused: .paused
        case .playing where activity.isSuspended: .paused
        case .playing: recovery.isWaiting ? .waiting : .playing
        case .ending: .playing
        }
    }

    /// Seconds of the current item heard so far.
    var elapsed: Double? {
        guard let current = list.current, activity.playback != .stopped else { return nil }
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
