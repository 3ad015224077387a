import AudioPlayback
import BackgrounderAPI
import ControlServer
import FoundationEssentials
import LocationUpdates
import StateStore
import SystemSupport

/// Composes the status of the service from its parts.
struct StatusReport: Sendable {
    let store: StateStore
    let modes: Modes
    let lifecycle: Lifecycle
    let location: LocationPart
    let audio: AudioPart
    /// All parts, including `location` and `audio`.
    let parts: [any DaemonPart]
    /// The start of the service. This clock also runs while the machine sleeps, and cannot be set.
    private let began = ContinuousClock.now

    init(
        store: StateStore,
        modes: Modes,
        lifecycle: Lifecycle,
        location: LocationPart,
        audio: AudioPart,
        parts: [any DaemonPart]
    ) {
        (self.store, self.modes, self.lifecycle) = (store, modes, lifecycle)
        (self.location, self.audio, self.parts) = (location, audio, parts)
    }

    /// Returns the state of the whole service.
    func status() async -> ServiceStatus {
        await lifecycle.update()
        let current = lifecycle.current
        var status = ServiceStatus(
            version: Backgrounder.version,
            pid: ProcessInfo.processInfo.processIdentifier,
            uptime: ((ContinuousClock.now - began).seconds * 1000).rounded() / 1000,
            state: current.state,
            since: current.since,
            attached: current.attached,
            modes: modes.declared
        )
        for part in parts { await part.report(in: &status) }
        let health = await location.health()
        status.health = health
        if health.state != .ok {
            status.location?.health = health
            status.audio?.health = health
        }
        return status
    }

    /// Returns the metrics of the whole service.
    func metrics() async -> MetricsText {
        var metrics = MetricsText()
        let version = MetricsText.Sample(["version": Backgrounder.version], 1)
        metrics.add("backgrounder_build_info", .gauge, "The version of the service.", [version])
        for part in parts { await part.report(in: &metrics) }
        metrics.add(
            "backgrounder_database_bytes",
            .gauge,
            "Size of the database with its log.",
            Double(store.fileSize)
        )
        metrics.addProcess()
        return metrics
    }

    /// Returns the state that readers of the event stream receive first, and after changes that no event carries.
    func snapshot() async -> StateSnapshot {
        var status = await status()
        status.transfers = status.transfers.map(StateSnapshot.shown)
        let track = await location.manager.track(last: Track.capacity)
        let (items, length) = await audio.player.itemsAroundCurrent(StateSnapshot.mostItems)
        return StateSnapshot(status: status, track: track, queue: items, queueLength: length)
    }
}
