import AudioPlayback
import BackgrounderAPI
import ControlServer
import FoundationEssentials
import LocationUpdates
import Logging
import NIOCore
import StateStore
import Synchronization

/// The parts of the service, and how they hold together: this is the only place where they know of each other.
struct Daemon: Sendable {
    let paths: RuntimePaths
    let log: DaemonLog
    let logger: Logger
    let preferences: Preferences
    let location: LocationManager
    let player: QueuePlayer
    let lifecycle: Lifecycle
    let hub: EventHub
    let modes: Modes
    let backgroundLog: BackgroundLog
    let source: ConfigurationSource

    /// Puts the parts together from what the store kept; nothing runs yet.
    init(
        paths: RuntimePaths,
        source: ConfigurationSource,
        configuration: DaemonConfiguration,
        store: StateStore,
        log: DaemonLog,
        recorder: GPSDRecorder? = nil,
        group: any EventLoopGroup
    ) async throws {
        self.paths = paths
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

        // The parts call each other through events; the wires are connected when all of them are there.
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
        let savedPlayer = try journal.saved(PlayerState.self, by: .audio, logger: logger)
        let player = QueuePlayer(
            configuration: AudioConfiguration(
                driver: configuration.value(Keys.driver),
                latency: configuration.value(Keys.latency)
            ),
            queue: try store.queue(),
            state: savedPlayer ?? PlayerState(),
            journal: journal,
            clock: clock,
            logger: logger
        ) { event in wires.player(event) }
        let backgroundLog = BackgroundLog(log: log)
        let lifecycle = Lifecycle {
            if await location.status().isAtWork { return true }
            return await player.status().isAtWork
        } onAttachment: { isAnyoneAttached in
            if isAnyoneAttached { backgroundLog.endTimes() }
            await modes.apply(isAnyoneAttached: isAnyoneAttached, location: location, player: player)
            if !isAnyoneAttached {
                let interval = await preferences.configuration.value(Keys.observerInterval)
                backgroundLog.beginTimes(of: player, every: interval)
            }
        } onChange: { state in
            logger.info("The service is \(state.state.rawValue), \(state.attached) attached.")
            wires.hub?.post(.lifecycle(BackgrounderAPI.Lifecycle(state: state.state, attached: state.attached)))
        }
        let hub = EventHub(clock: clock) {
            StateSnapshot(
                status: await Self.status(lifecycle, modes, location, player),
                track: await location.track(last: 100),
                queue: await player.queue()
            )
        }
        wires.connect(hub: hub, lifecycle: lifecycle, log: backgroundLog)
        (self.location, self.player, self.lifecycle, self.hub) = (location, player, lifecycle, hub)
        self.backgroundLog = backgroundLog

        await modes.apply(isAnyoneAttached: false, location: location, player: player)
        backgroundLog.beginTimes(of: player, every: configuration.value(Keys.observerInterval))
        // Not where a queue was cleared: only where there never was one.
        if savedPlayer?.nextItemID ?? 1 == 1, await player.queue().isEmpty {
            await player.load(configuration.value(Keys.queue), play: configuration.value(Keys.autoplay))
        }
    }

    func status() async -> ServiceStatus {
        await Self.status(lifecycle, modes, location, player)
    }

    private static func status(
        _ lifecycle: Lifecycle,
        _ modes: Modes,
        _ location: LocationManager,
        _ player: QueuePlayer
    ) async -> ServiceStatus {
        await lifecycle.update()
        let current = lifecycle.current
        return ServiceStatus(
            version: Backgrounder.version,
            pid: ProcessInfo.processInfo.processIdentifier,
            state: current.state,
            since: current.since,
            attached: current.attached,
            modes: modes.declared,
            location: await location.status(),
            audio: await player.status()
        )
    }
}

/// Carries the modes' events to what is built after them.
private final class Wires: Sendable {
    private struct Ends {
        var hub: EventHub
        var lifecycle: Lifecycle
        var log: BackgroundLog
    }

    private let ends = Mutex<Ends?>(nil)

    var hub: EventHub? { ends.withLock { $0?.hub } }

    func connect(hub: EventHub, lifecycle: Lifecycle, log: BackgroundLog) {
        ends.withLock { $0 = Ends(hub: hub, lifecycle: lifecycle, log: log) }
    }

    func location(_ event: LocationEvent) {
        guard let ends = ends.withLock({ $0 }) else { return }
        switch event {
        case .locations(let locations):
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
        if case .currentItem(let item) = event { ends.hub.post(.currentItem(CurrentItem(item: item))) }
        changed(ends)
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
        case .paused, .stopped: false
        }
    }
}
