import AudioPlayback
import BackgrounderAPI
import ControlServer
import Logging
import MPDServer
import MusicLibrary
import ServiceLifecycle
import StateStore

/// The audio mode as a part of the service: the player, the music database, and MPD's view of both.
struct AudioPart: DaemonPart {
    let context: PartContext
    let player: QueuePlayer
    let musicDirectory: String?
    /// `nil` without an `audio.musicDirectory`.
    let music: MusicDatabase?
    /// Reads the pictures of items, wherever their files are.
    let covers = PictureReader(MusicDirectory("/"))
    /// Notifies MPD clients.
    let mpdHub: MPDHub
    private let location: LocationPart
    /// Whether there never was a queue; one that was cleared counts as a queue.
    private let isFirstStart: Bool

    /// Creates the part from its stored state.
    init(_ context: PartContext, location: LocationPart) throws {
        self.context = context
        self.location = location
        let (configuration, store) = (context.initialConfiguration, context.store)
        let journal = StorePlayerJournal(store: store)
        let saved = try journal.saved(logger: context.logger)
        isFirstStart = saved?.nextItemID ?? 1 == 1
        let mpdHub = MPDHub()
        self.mpdHub = mpdHub
        player = QueuePlayer(
            configuration: AudioConfiguration(
                driver: configuration.value(Keys.driver),
                latency: configuration.value(Keys.latency),
                format: configuration.value(Keys.format)
            ),
            queue: try store.queue(),
            unreadable: try store.unreadableItems(),
            state: saved ?? PlayerState(),
            journal: journal,
            clock: context.clock,
            web: WebStreams(clients: context.web, policy: configuration.webPolicy, clock: context.clock),
            logger: context.logger
        ) { [events = context.events] event in
            mpdHub.playerChanged()
            if case .currentItem(let item) = event {
                events.ride()
                events.post(.currentItem(CurrentItem(item: item)))
            }
            events.workChanged()
        }
        musicDirectory = configuration.value(Keys.musicDirectory)
        music = musicDirectory.map { MusicDatabase(directory: $0, store: store, logger: context.logger) }
    }

    /// Loads the queue of the configuration if this is the first start.
    func loadInitialQueue() async {
        guard isFirstStart, await player.queueLength == 0 else { return }
        let configuration = context.initialConfiguration
        await player.load(configuration.value(Keys.queue), play: configuration.value(Keys.autoplay))
    }

    var services: [any Service] { [player] + (music.map { [$0.library] } ?? []) }

    func isAtWork() async -> Bool {
        let status = await player.status()
        switch status.timeControlStatus {
        case .playing, .waiting: return true
        case .paused, .stopped: return status.announcement != nil
        }
    }

    func apply(isAnyoneAttached: Bool) async {
        if isAnyoneAttached { context.backgroundLog.end() }
        await applyMode(isAnyoneAttached: isAnyoneAttached)
        if !isAnyoneAttached { context.backgroundLog.begin(player, await context.preferences.configuration) }
    }

    func reload(_ configuration: DaemonConfiguration, changed: Set<String>, isAnyoneAttached: Bool) async {
        await applyMode(isAnyoneAttached: isAnyoneAttached)
        let timing: Set = [Keys.observerInterval.name, Keys.logProgress.name]
        if !timing.isDisjoint(with: changed), !isAnyoneAttached {
            context.backgroundLog.begin(player, configuration)
        }
    }

    private func applyMode(isAnyoneAttached: Bool) async {
        if context.modes.allow(.audio, isAnyoneAttached: isAnyoneAttached) {
            await player.resume()
        } else {
            await player.suspend()
        }
    }

    func storeWaiting() async { await player.storeUnsaved() }

    func report(in status: inout ServiceStatus) async { status.audio = await player.status() }

    func report(in metrics: inout MetricsText) async {
        let status = await player.status()
        metrics.add(
            "backgrounder_audio_underruns_total",
            .counter,
            "How often the output needed samples and had none.",
            Double(status.underruns)
        )
        metrics.add("backgrounder_queue_items", .gauge, "Items in the queue.", Double(await player.queueLength))
    }

    /// Returns `status`, including storage problems.
    func reporting(_ status: AudioStatus) async -> AudioStatus {
        var status = status
        status.health = await location.unhealthy()
        return status
    }
}
