import AudioPlayback
import BackgrounderAPI
import ControlServer
import FoundationEssentials
import LocationUpdates
import Logging
import StateStore

extension Daemon {
    /// Creates the router with all routes and the event stream.
    func makeRouter(store: StateStore, end: ServiceEnd) -> ControlRouter {
        var router = ControlRouter()
        addServiceRoutes(to: &router, end: end)
        addLocationRoutes(to: &router, store: store)
        addAudioRoutes(to: &router)
        for part in parts { part.addRoutes(to: &router) }
        router.serveEvents(
            from: hub,
            attachments: lifecycle,
            defaultInterval: { await preferences.configuration.value(Keys.observerInterval) }
        ) { interval in await player.addPeriodicTimeObserver(forInterval: interval) }
        return router
    }

    private func addServiceRoutes(to router: inout ControlRouter, end: ServiceEnd) {
        router.on(Routes.status) { _ in await status() }
        router.on(Routes.health) { _ in await health() }
        router.on(Routes.acknowledgeHealth) { _ in
            try await store.acknowledgeIncidents()
            return await health()
        }
        router.on(Routes.stop) { _ in
            // The reply is sent first.
            Task { end.begin() }
            return ProcessReply(pid: ProcessInfo.processInfo.processIdentifier)
        }
        router.on(Routes.reload) { _ in try await reload() }
    }

    /// Reads the configuration again and applies the keys that can change in a running service. A faulty file changes nothing.
    func reload() async throws -> ReloadReply {
        let new: DaemonConfiguration
        do {
            new = try source.load()
        } catch {
            throw WireError(
                .invalid,
                "cannot load the configuration: \(error)",
                hint: "the service continues with the previous one"
            )
        }
        let changed = new.changes(from: await preferences.configuration)
        try await preferences.replace(new)
        log.level = new.value(Keys.logLevel)
        modes.declared = new.value(Keys.modes)
        await location.apply(preferences.location)
        if changed.contains(Keys.source.name) { await location.setSource(new.value(Keys.source)) }
        await modes.apply(isAnyoneAttached: lifecycle.current.attached > 0, location: location, player: player)
        await fetch.apply(isAnyoneAttached: lifecycle.current.attached > 0)
        await lifecycle.update()
        hub.stateChanged()
        let timing: Set = [Keys.observerInterval.name, Keys.logProgress.name]
        if !timing.isDisjoint(with: changed), lifecycle.current.attached == 0 { backgroundLog.begin(player, new) }
        let recording = InstanceRecord.read(paths.instance)?.recording
        do {
            try InstanceRecord(new, recording: recording).write(to: paths.instance)
        } catch {
            logger.warning(
                "Cannot write \(paths.instance): \(error.reason); `backgrounder start` will compare with the old configuration"
            )
        }
        let reply = ReloadReply(
            applied: changed.filter(Keys.reloadable.contains),
            needsRestart: changed.filter { !Keys.reloadable.contains($0) && !Keys.initial.contains($0) }
        )
        logger.info("Reloaded the configuration; applied: \(reply.applied), needs a restart: \(reply.needsRestart)")
        return reply
    }
    /// Like ``reload()``, but logs a failure.
    func reloadAndLog() async {
        do {
            _ = try await reload()
        } catch {
            logger.error("\((error as? WireError)?.message ?? "\(error)")")
        }
    }
}
