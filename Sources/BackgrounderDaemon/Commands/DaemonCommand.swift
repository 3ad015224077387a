package import ArgumentParser
import AudioPlayback
import BackgrounderAPI
import ControlServer
import FoundationEssentials
import Glibc
import LocationUpdates
import Logging
import NIOPosix
import ServiceLifecycle
import StateStore
import Synchronization
import SystemSupport
import WebSupport

/// `backgrounderd`: the service in the foreground.
package struct DaemonCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "backgrounderd",
        abstract: "Run the Backgrounder service in the foreground.",
        discussion: """
            This is the program for systemd and other supervisors. `backgrounder start` runs it detached from \
            the terminal, and `backgrounder` controls it.

            EXAMPLES
              backgrounderd --source gpsd://localhost:2947
              backgrounderd --home /tmp/demo --source 'gpx:tracks/freeway-drive.gpx?rate=10' --driver null
            """,
        version: Backgrounder.version,
        subcommands: [
            ReplayCommand.self, PlaceReplayCommand.self, PlanCommand.self, BackupCommand.self, RestoreCommand.self,
            InspectCommand.self, FleetAnnounceCommand.self, FleetSendCommand.self, FleetListCommand.self,
            FleetShowCommand.self, FleetCollectCommand.self,
        ]
    )

    @Option(help: ArgumentHelp("Folder for configuration, state, sockets and log.", valueName: "dir"))
    var home: String?

    @Option(help: ArgumentHelp("Read this configuration instead of the default one.", valueName: "file"))
    var config: String?

    @Option(
        help: ArgumentHelp(
            "Location source: gpsd://host[:port][/dev/...], or gpx: or gpsd-log:FILE[?rate=N|max].",
            valueName: "url"
        )
    )
    var source: String?

    @Option(help: ArgumentHelp("Audio driver: auto, pulse, alsa, null, wav:FILE or raw:FILE.", valueName: "name"))
    var driver: String?

    @Option(
        help: ArgumentHelp(
            "Record what gpsd sends to this new file, for replay as gpsd-log:FILE.",
            valueName: "file"
        )
    )
    var record: String?

    @Option(
        help: ArgumentHelp(
            "Run one fetch of this source and exit: 0 new data, 3 no new data, 1 failed, 4 no such source.",
            valueName: "name"
        )
    )
    var launchForFetch: String?

    @Flag(help: "Check the configuration, print the result and exit: 0 valid, 1 invalid. Needs no service.")
    var check = false

    /// The name of `--check` in version 0.1.
    @Flag(help: .private)
    var checkConfiguration = false

    @Option(help: .private)
    var readyDescriptor: Int32?

    /// The exit code if a named item does not exist.
    static let noSuchItem: Int32 = 4
    /// Whether `backgrounder` executed this program; messages then name `backgrounder`.
    static let isForCommand = CommandLine.arguments.first == Backgrounder.commandName

    /// Creates a command without arguments; ArgumentParser fills it in.
    package init() {}

    /// Rejects an empty `--home`, which would be the current directory, and two options that exclude each other.
    package func validate() throws {
        if home == "" { throw ValidationError(RuntimePaths.emptyHome) }
        if check || checkConfiguration, launchForFetch != nil {
            let option = check ? "--check" : "--check-configuration"
            throw ValidationError("\(option) cannot be combined with --launch-for-fetch; use one of them")
        }
    }

    /// Serves until a signal or a stop request, or does what another option asks for.
    package func run() async throws {
        do {
            if check || checkConfiguration {
                let configuration = try configurationSource(RuntimePaths.current(home: home)).load()
                for warning in configuration.warnings { Self.report("warning: \(warning)") }
                try StandardOutput.write("\(configuration.verdict.withoutControlCharacters)\n")
            } else if let launchForFetch {
                try await LaunchForFetch(source: launchForFetch, home: home, file: config).run()
            } else {
                try await serve()
            }
        } catch let error as OutputError {
            Self.fail(error)
        } catch let error as ConfigurationError {
            fail(error)
        } catch let error as any CustomStringConvertible & Error where Self.isOurs(error) {
            Self.fail(error.description)
        }
    }

    private static func isOurs(_ error: any Error) -> Bool {
        error is StartError || error is InstanceError || error is StateStoreError || error is RecordingError
    }

    /// Reports all faults of the configuration and ends the process.
    private func fail(_ error: ConfigurationError) -> Never {
        // `backgrounder start` prints one line.
        let lines = readyDescriptor == nil ? error.faults.map(\.description) : [error.description]
        for line in lines.dropLast() { Self.report(line) }
        Self.fail(lines[lines.count - 1], code: error.isWrongArgument ? 64 : 1)
    }

    /// Writes a line to stderr, after the name of the program.
    private static func report(_ message: String) {
        StandardError.writeLine("\(isForCommand ? Backgrounder.commandName : "backgrounderd"): \(message)")
    }

    static func fail(_ message: String, code: Int32 = 1) -> Never {
        report(message)
        // Everything that running parts need is stored already.
        Glibc.exit(code)
    }

    /// Ends the process because stdout cannot be written; silently if its reader has closed it.
    static func fail(_ error: OutputError) -> Never {
        if error.isClosedPipe { Glibc.exit(1) }
        fail(error.description)
    }

    func configurationSource(_ paths: RuntimePaths) -> ConfigurationSource {
        ConfigurationSource(
            file: config,
            standardFile: paths.configuration,
            environment: ProcessInfo.processInfo.environment,
            options: [Keys.source.name: ("--source", source), Keys.driver.name: ("--driver", driver)],
            directory: RuntimePaths.absolute(".")
        )
    }

    /// The options for starting this service again; `nil` if `backgrounder start` did not start it.
    private var restartOptions: [String]? {
        guard readyDescriptor != nil else { return nil }
        let options = [("--config", config), ("--source", source), ("--driver", driver), ("--record", record)]
        return options.flatMap { name, value in value.map { [name, $0] } ?? [] }
    }

    private func serve() async throws {
        umask(0o077)
        let environment = ProcessInfo.processInfo.environment
        let paths = RuntimePaths.current(home: home)
        let source = configurationSource(paths)
        let configuration = try source.load()
        try TrustedPath.require(configuration.file)
        let record = record.map { RuntimePaths.absolute($0) }
        if let record, let file = configuration.value(Keys.source).replayedFile {
            Self.fail("--record \(record) needs a gpsd, but the source is the file \(file)", code: 64)
        }
        if let record, let reason = configuration.locationOffReason {
            Self.fail("--record \(record) needs the location mode, which is off: \(reason)")
        }
        let access = try SocketAccess(
            group: configuration.value(Keys.controlGroup),
            executing: configuration.value(Keys.controlExecute)
        )
        // The service must not keep the file system busy from which it happened to be started.
        chdir("/")
        try paths.makeDirectories()
        let instance = InstanceRecord(configuration, recording: record, options: restartOptions)
        let lock = try await InstanceLock.acquire(paths, record: instance)
        paths.closeDirectories()
        let log = DaemonLog(path: paths.log, level: configuration.value(Keys.logLevel), environment: environment)
        let logger = log.makeLogger()
        logger.info("Starting Backgrounder \(Backgrounder.version), pid \(getpid())")
        for warning in configuration.warnings { logger.warning("\(warning)") }

        let storage = StorageWatch(logger: logger)
        let store = try Self.openStore(paths, configuration, logger, storage)
        log.deleteRotated(after: configuration.value(Keys.retention)) { store.clock.now }
        let group = MultiThreadedEventLoopGroup.singleton
        let web = WebClients(on: group)
        let daemon = try await Daemon(
            paths: paths,
            source: source,
            configuration: configuration,
            store: store,
            log: log,
            recorder: try record.map { path throws(RecordingError) in
                try GPSDRecorder(path: path) { logger.warning("\(GPSDRecorder.describe($0, path: path))") }
            },
            group: group,
            web: web
        )
        daemon.follow(storage)
        let end = ServiceEnd(sockets: paths.sockets, environment: environment, logger: logger)
        let responder = daemon.makeRouter(end: end).makeResponder()
        let server = ControlServer(
            socket: paths.controlSocket,
            responder: responder,
            group: group,
            logger: logger,
            access: access.policy
        ) {
            access.opened(paths, logger: logger)
            await daemon.lifecycle.update()
            logger.info("Ready on \(paths.controlSocket)")
            Readiness.announce(to: readyDescriptor, environment: environment)
            if readyDescriptor != nil { log.adoptStandardError() }
        }
        let mpd = try await daemon.audio.makeMPDServer()
        var all = daemon.services([mpd, server, try await daemon.page.makeService(responder)])
        let heartbeat = Heartbeat(environment: environment, clock: EventLoopClock(group: group)) {
            _ = await daemon.report.status()
            await store.answers()
        }
        if let heartbeat { all.append(heartbeat) }
        let services = ServiceGroup(
            configuration: .init(services: all, logger: log.makeQuietLogger())
        )
        end.connect(services)
        let signals = Signals([SIGTERM, SIGINT, SIGHUP]) { number in
            switch number {
            case SIGHUP: Task { await daemon.reloadAndLog() }
            default: end.begin()
            }
        }
        do {
            try await services.run()
        } catch {
            throw StartError("cannot run the service: \(error)")
        }
        withExtendedLifetime(signals) {}
        try? await web.shutdown()
        for socket in paths.sockets { unlink(socket) }
        do {
            try store.close()
        } catch {
            logger.error("Cannot close the database: \(error)")
        }
        logger.info("Stopped")
        log.flush()
        _ = consume lock
        Glibc.exit(0)
    }

    static func openStore(
        _ paths: RuntimePaths,
        _ configuration: DaemonConfiguration,
        _ logger: Logger,
        _ storage: StorageWatch
    ) throws(StateStoreError) -> StateStore {
        let store = try StateStore(
            path: paths.database,
            syncInterval: configuration.value(Keys.syncInterval),
            retention: configuration.value(Keys.retention),
            maximumSize: configuration.value(Keys.maximumSize)
        ) { event in
            switch event {
            case .health(let problems): storage.changed(to: problems)
            case .purged(let purge): logger.notice("\(purge)")
            }
        }
        storage.changed(to: store.problems)
        return store
    }
}
