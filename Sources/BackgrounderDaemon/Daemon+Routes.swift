import AudioPlayback
import BackgrounderAPI
import ControlServer
import FoundationEssentials
import StateStore

extension Daemon {
    /// Creates the router with all routes and the event stream.
    func makeRouter(end: ServiceEnd) -> ControlRouter {
        var router = ControlRouter { [context] mode throws(WireError) in try context.require(mode) }
        addServiceRoutes(to: &router, end: end)
        for part in parts { part.addRoutes(to: &router) }
        router.serveEvents(
            from: hub,
            attachments: lifecycle,
            defaultInterval: { [context] in await context.preferences.configuration.value(Keys.observerInterval) }
        ) { [player = audio.player] interval in await player.addPeriodicTimeObserver(forInterval: interval) }
        return router
    }

    private func addServiceRoutes(to router: inout ControlRouter, end: ServiceEnd) {
        router.on(Routes.status) { _ in await report.status() }
        let log = LogReader(log: context.log)
        router.on(Routes.log, query: ["since", "level", "grep", "last"]) { try await log.records($0) }
        router.onContent(Routes.metricsPath) { _ in
            Content(Data(await report.metrics().text.utf8), type: MetricsText.mediaType)
        }
        router.on(Routes.health) { _ in await location.health() }
        router.on(Routes.acknowledgeHealth) { _ in
            try await context.store.acknowledgeIncidents()
            return await location.health()
        }
        router.on(Routes.stop) { _ in
            // The reply is sent first.
            Task { end.begin() }
            return ProcessReply(pid: ProcessInfo.processInfo.processIdentifier)
        }
        router.on(Routes.reload) { _ in try await reload() }
    }
}
