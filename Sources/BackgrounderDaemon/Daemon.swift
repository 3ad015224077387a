import AudioPlayback
import BackgroundFetch
import BackgrounderAPI
import ControlServer
import FoundationEssentials
import LocationUpdates
import Logging
import MPDServer
import NIOCore
import StateStore
import Synchronization

/// The parts of the service and the connections between them. No other type knows more than one mode.
struct Daemon: Sendable {
    let paths: RuntimePaths
    let store: StateStore
    let log: DaemonLog
    let logger: Logger
    let preferences: Preferences
    let location: LocationManager
    let player: QueuePlayer
    let musicDirectory: String?
    /// `nil` without an `audio.musicDirectory`.
    let music: MusicDatabase?
    let lifecycle: Lifecycle
    let hub: EventHub
    /// Notifies MPD clients.
    let mpdHub: MPDHub
    let modes: Modes
    let backgroundLog: BackgroundLog
    let source: ConfigurationSource
    let tasks: TasksPart
    let transfers: TransfersPart
    let fetch: FetchPart
    let push: PushPart

    var parts: [any DaemonPart] { [tasks, transfers, fetch, push] }

    /// Creates all parts from the state in the store. Nothing runs yet.
    init(
        paths: RuntimePaths,
        source: ConfigurationSource,
        configuration: DaemonConfiguration,
        store: StateStore,
        log: DaemonLog,
        recorder: GPSDRecorder? = nil,
        group: any EventLoopGroup,
        web: WebClients
    ) async throws {
        self.paths = paths
        self.store = store
        self.log = log
        self.source = source
        let logger = log.makeLogger()
        self.logger = logger
        let clock = EventLoopClock(group: group)
        let journal = StoreJournal(store: store)
        let preferences = try await Preferences(store: store, configuration: configuration)
        self.preferences = preferences
        let modes = Modes(configuration.value(Keys.modes))
        self.modes = modes

        // The parts call each other through events, which are connected once all parts exist.
        let wires = Wires()
        let location = LocationManager(
            settings: await preferences.location,
            source: configuration.value(Keys.source),
            checkpoint: try journal.saved(LocationCheckpoint.self, by: .location, logger: logger),
            track: try store.newestLocations(100),
            journal: journal,
            clock: clock,
            logger: logger,
            recorder: recorder
        ) { event in wires.location(event) }
        let savedPlayer = try journal.savedPlayer(logger: logger)
        let player = QueuePlayer(
            configuration: AudioConfiguration(
                driver: configuration.value(Keys.driver),
                latency: configuration.value(Keys.latency),
                format: configuration.value(Keys.format)
            ),
            queue: try store.queue(),
            unreadable: try store.unreadableItems(),
            state: savedPlayer ?? PlayerState(),
            journal: journal,
            clock: clock,
            logger: logger
        ) { event in wires.player(event) }
        musicDirectory = configuration.value(Keys.musicDirectory)
        music = musicDirectory.map {
            MusicDatabase(directory: $0, store: store, logger: logger)
        }
        let context = PartContext(
            paths: paths,
            configuration: configuration,
            store: store,
            modes: modes,
            clock: clock,
            group: group,
            commandEnvironment: configuration.commandEnvironment(paths, of: source.environment),
            web: web,
            log: log,
            logger: logger,
            attached: { wires.attached },
            post: { event in
                wires.hub?.post(event)
                if case .transfer(let transfer) = event, transfer.state.isOver { wires.ride() }
            },
            changed: { wires.changed() }
        )
        let tasks = try await TasksPart(context)
        let transfers = try await TransfersPart(context)
        let fetch = try await FetchPart(context, transfers: transfers)
        let push = try await PushPart(context, fetch: fetch)
        (self.tasks, self.transfers, self.fetch, self.push) = (tasks, transfers, fetch, push)
        let parts: [any DaemonPart] = [tasks, transfers, fetch, push]

        let backgroundLog = BackgroundLog(log: log, progress: configuration.value(Keys.logProgress))
        let lifecycle = Lifecycle {
            if await location.status().isAtWork { return true }
            if await player.status().isAtWork { return true }
            for part in parts where await part.isAtWork() { return true }
            return false
        } onAttachment: { isAnyoneAttached in
            if isAnyoneAttached { backgroundLog.end() }
            await modes.apply(isAnyoneAttached: isAnyoneAttached, location: location, player: player)
            for part in parts { await part.apply(isAnyoneAttached: isAnyoneAttached) }
            if !isAnyoneAttached {
                backgroundLog.begin(player, await preferences.configuration)
            }
        } onChange: { state in
            logger.info("The service is \(state.state.rawValue), \(state.attached) attached")
            wires.hub?.post(.lifecycle(BackgrounderAPI.Lifecycle(state: state.state, attached: state.attached)))
        }
        let hub = EventHub(clock: clock) {
            var status = await Self.status(lifecycle, modes, location, player, parts, store)
            status.transfers = status.transfers.map(StateSnapshot.shown)
            let track = await location.track(last: 100)
            let (items, length) = await player.itemsAroundCurrent(StateSnapshot.mostItems)
            return StateSnapshot(status: status, track: track, queue: items, queueLength: length)
        }
        let mpdHub = MPDHub()
        wires.connect(hub: hub, mpd: mpdHub, lifecycle: lifecycle, log: backgroundLog, ride: fetch.ride)
        (self.location, self.player, self.lifecycle, self.hub) = (location, player, lifecycle, hub)
        self.backgroundLog = backgroundLog
        self.mpdHub = mpdHub

        await modes.apply(isAnyoneAttached: false, location: location, player: player)
        for part in parts { await part.apply(isAnyoneAttached: false) }
        backgroundLog.begin(player, configuration)
        // Only if there never was a queue, not if it was cleared.
        if savedPlayer?.nextItemID ?? 1 == 1, await player.queueLength == 0 {
            await player.load(configuration.value(Keys.queue), play: configuration.value(Keys.autoplay))
        }
    }

    func status() async -> ServiceStatus {
        await Self.status(lifecycle, modes, location, player, parts, store)
    }

    private static func status(
        _ lifecycle: Lifecycle,
        _ modes: Modes,
        _ location: LocationManager,
        _ player: QueuePlayer,
        _ parts: [any DaemonPart],
        _ store: StateStore
    ) async -> ServiceStatus {
        await lifecycle.update()
        let current = lifecycle.current
        var status = ServiceStatus(
            version: Backgrounder.version,
            pid: ProcessInfo.processInfo.processIdentifier,
            state: current.state,
            since: current.since,
            attached: current.attached,
            modes: modes.declared,
            location: await location.status(),
            audio: await player.status()
        )
        for part in parts { await part.report(in: &status) }
        let health = await location.health(store.problems)
        status.health = health
        if health.state != .ok {
            status.location?.health = health
            status.audio?.health = health
        }
        return status
    }
}

/// Forwards the modes' events to parts that are created after them.
private final class Wires: Sendable {
    private struct Ends {
        var hub: EventHub
        var mpd: MPDHub
        var lifecycle: Lifecycle
        var log: BackgroundLog
        /// Called when the machine is awake anyway, so that due fetches run now.
        var ride: @Sendable () -> Void
    }

    private let ends = Mutex<Ends?>(nil)

    var hub: EventHub? { ends.withLock { $0?.hub } }
    var attached: Int { ends.withLock { $0?.lifecycle.current.attached ?? 0 } }

    func connect(
        hub: EventHub,
        mpd: MPDHub,
        lifecycle: Lifecycle,
        log: BackgroundLog,
        ride: @escaping @Sendable () -> Void
    ) {
        ends.withLock { $0 = Ends(hub: hub, mpd: mpd, lifecycle: lifecycle, log: log, ride: ride) }
    }

    func ride() { ends.withLock { $0 }?.ride() }

    func location(_ event: LocationEvent) {
        guard let ends = ends.withLock({ $0 }) else { return }
        switch event {
        case .locations(let locations):
            ends.ride()
            if ends.lifecycle.current.attached == 0 { ends.log.log(locations) }
            ends.hub.post(locations)
        case .counted:
            ends.hub.stateChanged()
        case .changed:
            changed(ends)
        }
    }

    func player(_ event: PlayerEvent) {
        guard let ends = ends.withLock({ $0 }) else { return }
        ends.mpd.playerChanged()
        if case .currentItem(let item) = event {
            ends.ride()
            ends.hub.post(.currentItem(CurrentItem(item: item)))
        }
        changed(ends)
    }

    func changed() {
        if let ends = ends.withLock({ $0 }) { changed(ends) }
    }

    private func changed(_ ends: Ends) {
        ends.hub.stateChanged()
        if ends.lifecycle.current.attached == 0 { Task { await ends.lifecycle.update() } }
    }
}

extension LocationStatus {
    fileprivate var isAtWork: Bool {
        switch connection {
        case .connected, .waiting, .replaying: updating
        case .finished, .off: false
        }
    }
}

extension AudioStatus {
    fileprivate var isAtWork: Bool {
        switch timeControlStatus {
        case .playing, .waiting: true
        case .paused, .stopped: announcement != nil
        }
    }
}
