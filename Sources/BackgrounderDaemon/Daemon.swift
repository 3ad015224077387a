import BackgrounderAPI
import ControlServer
import LocationUpdates
import Logging
import NIOCore
import ServiceLifecycle
import StateStore
import SystemSupport
import WebSupport

/// The parts of the service, and the connections between them.
struct Daemon: Sendable {
    let context: PartContext
    /// Where the configuration comes from.
    let source: ConfigurationSource
    let lifecycle: Lifecycle
    let hub: EventHub
    let report: StatusReport

    let location: LocationPart
    let audio: AudioPart
    private let tasks: TasksPart
    private let transfers: TransfersPart
    private let fetch: FetchPart
    private let push: PushPart
    private let publish: PublishPart
    private let places: PlacesPart
    let page: PagePart
    /// `nil` without `metrics.textfile`.
    private let metricsFile: MetricsFile?

    var parts: [any DaemonPart] { report.parts }

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
        self.source = source
        let events = EventRelay()
        let context = PartContext(
            paths: paths,
            initialConfiguration: configuration,
            store: store,
            preferences: try await Preferences(store: store, configuration: configuration),
            modes: Modes(configuration.declaredModes),
            clock: EventLoopClock(group: group),
            group: group,
            commandEnvironment: configuration.commandEnvironment(paths, of: source.environment),
            web: web,
            log: log,
            logger: log.makeLogger(),
            backgroundLog: BackgroundLog(log: log, progress: configuration.value(Keys.logProgress)),
            events: events
        )
        self.context = context

        location = try await LocationPart(context, recorder: recorder)
        audio = try AudioPart(context, location: location)
        tasks = try await TasksPart(context)
        transfers = try await TransfersPart(context)
        fetch = try await FetchPart(context, transfers: transfers)
        push = try await PushPart(context, fetch: fetch)
        places = try await PlacesPart(context, audio: audio, tasks: tasks, fetch: fetch)
        publish = try await PublishPart(context, audio: audio, places: places, fetch: fetch, transfers: transfers)
        page = try PagePart(context)
        let parts: [any DaemonPart] = [location, audio, tasks, transfers, fetch, push, publish, places, page]

        lifecycle = Lifecycle {
            for part in parts where await part.isAtWork() { return true }
            return false
        } onAttachment: { isAnyoneAttached in
            for part in parts { await part.apply(isAnyoneAttached: isAnyoneAttached) }
        } onChange: { state in
            context.logger.info("The service is \(state.state.rawValue), \(state.attached) attached")
            events.post(.lifecycle(LifecycleState(state: state.state, attached: state.attached)))
        }
        let report = StatusReport(
            store: store,
            modes: context.modes,
            lifecycle: lifecycle,
            location: location,
            audio: audio,
            parts: parts
        )
        self.report = report
        hub = EventHub(clock: context.clock) { await report.snapshot() }
        let metricsFile = configuration.value(Keys.metricsTextfile).map { path in
            MetricsFile(path: path, clock: context.clock, logger: context.logger) { await report.metrics().text }
        }
        self.metricsFile = metricsFile
        events.connect(
            hub: hub,
            lifecycle: lifecycle,
            observe: places.observe,
            ride: fetch.ride,
            publish: publish.stored,
            occurred: publish.occurred,
            stateChanged: publish.noteChange,
            changed: { metricsFile?.noteChange() }
        )
        await publish.connect { await report.status() }

        for part in parts { await part.apply(isAnyoneAttached: false) }
        for part in parts {
            do {
                try await part.declare(configuration)
            } catch {
                context.logger.error("Cannot adopt what \(configuration.file) declares: \(error)")
            }
        }
        await audio.loadInitialQueue()
    }

    /// Returns the services of the parts around the servers, in the order in which they start. They stop in reverse.
    func services(_ servers: [any Service]) -> [any Service] {
        let media: [any DaemonPart] = [location, audio]
        let others: [any DaemonPart] = [tasks, transfers, fetch, push, publish]
        let files: [any Service] = metricsFile.map { [$0] } ?? []
        return places.services + media.flatMap(\.services) + servers + others.flatMap(\.services) + files
    }

    /// Publishes storage problems as events, and stores what waits once the database can be written.
    func follow(_ storage: StorageWatch) {
        storage.connect { isWorking in
            Task {
                hub.post(.health(await location.health()))
                hub.stateChanged()
                guard isWorking else { return }
                for part in parts { await part.storeWaiting() }
            }
        }
    }

    /// Reads the configuration again and applies the keys that can change in a running service. A faulty file changes nothing; each
    /// of its faults is logged.
    ///
    /// - Throws: an `invalid` ``WireError`` with the faults, or the error of the store.
    func reload() async throws -> ReloadReply {
        let new: DaemonConfiguration
        do throws(ConfigurationError) {
            new = try source.load()
        } catch {
            for fault in error.faults { context.logger.error("Cannot load the configuration: \(fault)") }
            throw WireError(
                .invalid,
                "cannot load the configuration: \(error)",
                hint: "the service continues with the previous one"
            )
        }
        // The file may declare commands.
        do throws(StartError) { try TrustedPath.require(new.file) } catch {
            throw WireError(.conflict, error.description, hint: "the service continues with the previous configuration")
        }
        let old = await context.preferences.configuration
        let changed = new.changes(from: old)
        try await context.preferences.replace(new)
        context.log.level = new.value(Keys.logLevel)
        for warning in new.warnings where !old.warnings.contains(warning) { context.logger.warning("\(warning)") }
        context.modes.declared = new.declaredModes
        await lifecycle.withAttachment { isAnyoneAttached in
            for part in parts {
                await part.reload(new, changed: Set(changed), isAnyoneAttached: isAnyoneAttached)
            }
        }
        for part in parts { try await part.declare(new) }
        await lifecycle.update()
        hub.stateChanged()
        updateInstance(new)
        let reply = ReloadReply(
            applied: changed.filter(Keys.reloadable.contains),
            needsRestart: changed.filter { !Keys.reloadable.contains($0) && !Keys.initial.contains($0) }
        )
        context.logger.info(
            "Reloaded the configuration; applied: \(reply.applied), needs a restart: \(reply.needsRestart)"
        )
        return reply
    }

    /// Like ``reload()``, but logs every failure.
    func reloadAndLog() async {
        do {
            _ = try await reload()
        } catch let error as WireError where error.code == .invalid {
            // The faults are in the log.
        } catch {
            context.logger.error("\((error as? WireError)?.message ?? "\(error)")")
        }
    }

    private func updateInstance(_ configuration: DaemonConfiguration) {
        let path = context.paths.instance
        do {
            let last = InstanceRecord.read(path)
            try InstanceRecord(configuration, recording: last?.recording, options: last?.options).write(to: path)
        } catch {
            context.logger.warning(
                "Cannot write \(path): \(error.reason); `backgrounder start` will compare with the old configuration"
            )
        }
    }
}
