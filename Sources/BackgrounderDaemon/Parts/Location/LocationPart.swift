import BackgrounderAPI
import ControlServer
import FoundationEssentials
import LocationUpdates
import ServiceLifecycle
import StateStore

/// The location mode as a part of the service.
struct LocationPart: DaemonPart {
    let context: PartContext
    let manager: LocationManager

    /// Creates the part from its stored state.
    ///
    /// - Parameter recorder: records what gpsd sends.
    init(_ context: PartContext, recorder: GPSDRecorder?) async throws {
        self.context = context
        let journal = StoreLocationJournal(store: context.store)
        manager = LocationManager(
            settings: await context.preferences.location,
            source: context.initialConfiguration.value(Keys.source),
            checkpoint: try journal.saved(logger: context.logger),
            track: try context.store.newestLocations(Track.capacity),
            journal: journal,
            clock: context.clock,
            logger: context.logger,
            recorder: recorder
        ) { event in Self.pass(event, to: context) }
    }

    private static func pass(_ event: LocationEvent, to context: PartContext) {
        let events = context.events
        switch event {
        case .locations(let locations, let mayBlock):
            events.ride()
            if events.attached == 0 { context.backgroundLog.log(locations, mayBlock: mayBlock) }
            events.post(locations)
        case .passed(let fixes): events.observe(fixes)
        case .counted: events.stateChanged()
        case .changed: events.workChanged()
        }
    }

    var services: [any Service] { [manager] }

    func isAtWork() async -> Bool {
        let status = await manager.status()
        switch status.connection {
        case .connected, .waiting, .replaying: return status.updating
        case .finished, .off: return false
        }
    }

    func apply(isAnyoneAttached: Bool) async {
        let isOff = await offReason != nil
        if !isOff, context.modes.allow(.location, isAnyoneAttached: isAnyoneAttached) {
            await manager.resume()
        } else {
            await manager.suspend()
        }
    }

    func reload(_ configuration: DaemonConfiguration, changed: Set<String>, isAnyoneAttached: Bool) async {
        await manager.apply(context.preferences.location)
        if changed.contains(Keys.source.name) { await manager.setSource(configuration.value(Keys.source)) }
        await apply(isAnyoneAttached: isAnyoneAttached)
    }

    func storeWaiting() async { await manager.storeWaiting() }

    func report(in status: inout ServiceStatus) async {
        status.location = await manager.status()
        status.location?.offReason = await offReason
    }

    func report(in metrics: inout MetricsText) async {
        let status = await manager.status()
        let rejected = RejectionReason.allCases.map { reason in
            MetricsText.Sample(["result": "rejected", "reason": reason.rawValue], status.rejected[reason])
        }
        metrics.add(
            "backgrounder_fixes_total",
            .counter,
            "Fixes from the source, by the filter's decision.",
            [.init(["result": "accepted", "reason": ""], status.accepted)] + rejected
        )
        guard let time = status.lastFix?.timestamp else { return }
        let age = max(0, Date().timeIntervalSince(time))
        metrics.add("backgrounder_fix_age_seconds", .gauge, "Seconds since the time of the newest point.", age)
    }

    /// Why the configuration turns the mode off, in one line; `nil` if the mode may work.
    var offReason: String? {
        get async { await context.preferences.configuration.locationOffReason }
    }

    /// Returns the health of the storage, with the points that wait in memory.
    func health() async -> StorageHealth { await manager.health(context.store.problems) }

    /// Returns ``health()``, or `nil` without problems.
    func unhealthy() async -> StorageHealth? {
        context.store.problems.isEmpty ? nil : await health()
    }

    /// Returns the mode's status, including storage problems.
    func status() async -> LocationStatus {
        var status = await manager.status()
        status.offReason = await offReason
        status.health = await unhealthy()
        return status
    }
}
