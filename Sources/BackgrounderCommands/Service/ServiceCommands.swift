import ArgumentParser
import BackgrounderAPI
import FoundationEssentials
import Glibc
import SystemSupport

struct StartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start",
        abstract: "Start the service and wait until it is ready.",
        discussion: """
            The service runs detached from the terminal until `backgrounder stop`. The \
            options override the configuration. If the service is already running, this \
            prints its pid, and fails if it runs with different options.

            EXAMPLES
              backgrounder start
              backgrounder start --source 'gpx:tracks/city-walk.gpx?rate=10' --driver null
            """
    )

    @OptionGroup var service: ServiceOptions

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
        help: ArgumentHelp("Record what gpsd sends to this new file, for replay as gpsd-log:FILE.", valueName: "file")
    )
    var record: String?

    func run() async throws {
        let paths = service.paths
        let config = config.map { RuntimePaths.absolute($0) }
        let record = record.map { RuntimePaths.absolute($0) }
        let source = source?.withAbsolutePath(after: ["gpx:", "gpsd-log:"])
        let driver = driver?.withAbsolutePath(after: ["wav:", "raw:"])
        if let status = try await running(paths) { return try tell(status, paths, config, source, driver, record) }
        var arguments: [String] = []
        if let home = paths.home { arguments += ["--home", home] }
        if let config { arguments += ["--config", config] }
        if let source { arguments += ["--source", source] }
        if let driver { arguments += ["--driver", driver] }
        if let record { arguments += ["--record", record] }
        do {
            try Output.print("started, pid \(try Launcher.spawnDetached(arguments))")
        } catch let failure as CommandFailure {
            guard let status = try await runningSoon(paths) else { throw failure }
            try tell(status, paths, config, source, driver, record)
        }
    }

    /// Prints the pid of the running service.
    ///
    /// - Throws: ``CommandFailure`` if the service runs with different options.
    private func tell(
        _ status: ServiceStatus,
        _ paths: RuntimePaths,
        _ config: String?,
        _ source: String?,
        _ driver: String?,
        _ record: String?
    ) throws {
        let holder = InstanceRecord.read(paths.instance)
        let differing = [
            differs(config, holder?.configuration, "--config"),
            differs(source?.canonicalSource, holder?.source, "--source"),
            differs(driver, holder?.driver, "--driver"),
            differs(record, holder?.recording, "--record"),
        ].compactMap(\.self)
        guard differing.isEmpty else {
            throw CommandFailure(
                "already running, pid \(status.pid), with a different \(differing.joined(separator: ", ")); run `backgrounder stop` first"
            )
        }
        try Output.print("already running, pid \(status.pid)")
    }

    /// Waits about 2 s for a service that another process is starting; returns `nil` if there is none.
    private func runningSoon(_ paths: RuntimePaths) async throws -> ServiceStatus? {
        for _ in 0..<40 {
            if let status = try await running(paths) { return status }
            guard let holder = InstanceRecord.read(paths.instance), kill(holder.pid, 0) == 0 else { return nil }
            // Only the process that started it is notified when it is ready, so poll.
            try await Task.sleep(for: .milliseconds(50))
        }
        return nil
    }

    private func running(_ paths: RuntimePaths) async throws -> ServiceStatus? {
        do {
            return try await Client(paths).call(Routes.status)
        } catch let failure as CommandFailure where failure.kind != .other {
            return nil
        }
    }

    /// Returns `option` if it was given and differs from the value that the service runs with.
    private func differs(_ given: String?, _ present: String?, _ option: String) -> String? {
        given == nil || given == present ? nil : option
    }
}

struct StopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Stop the service.",
        discussion: """
            EXAMPLE
              backgrounder stop
            """
    )

    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try Output.print("stopped, pid \(try await Self.stop(service.paths))")
    }

    /// Stops the service and waits until its process has ended. Returns its pid.
    ///
    /// - Throws: ``CommandFailure`` if it is not running, or did not stop within 5 s.
    static func stop(_ paths: RuntimePaths) async throws -> Int32 {
        let pid = try await ask(paths)
        guard await Launcher.waitForEnd(lock: paths.lock, seconds: 5) else {
            throw CommandFailure(
                "the service, pid \(pid), did not stop within 5 s; `kill -KILL \(pid)` ends it without data loss"
            )
        }
        return pid
    }

    /// Asks the service to stop, over the socket or, if that fails, with SIGTERM. Returns its pid.
    private static func ask(_ paths: RuntimePaths) async throws -> Int32 {
        do {
            return try await Client(paths).call(Routes.stop, patience: .seconds(1)).pid
        } catch let failure as CommandFailure {
            guard failure.kind != .notRunning, let pid = InstanceRecord.read(paths.instance)?.pid,
                kill(pid, SIGTERM) == 0
            else {
                throw failure
            }
            return pid
        }
    }
}

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of the service at a glance.",
        discussion: """
            EXAMPLES
              backgrounder status
              backgrounder status --format json | jq .state
            """
    )

    @OptionGroup var reading: ReadingOptions

    func run() async throws {
        let status = try await reading.client.call(Routes.status)
        try reading.show(status) { $0.summary() }
    }
}

struct ReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Reload the configuration.",
        discussion: """
            Prints the keys that were applied, and those that changed but need a restart.

            EXAMPLE
              backgrounder reload
            """
    )

    @OptionGroup var reading: ReadingOptions

    func run() async throws {
        let reply = try await reading.client.call(Routes.reload)
        try reading.show(reply) { reply in
            let applied =
                reply.applied.isEmpty ? "nothing changed" : "applied: \(reply.applied.joined(separator: ", "))"
            let rest =
                reply.needsRestart.isEmpty ? "" : "\nneeds a restart: \(reply.needsRestart.joined(separator: ", "))"
            return reply.applied.isEmpty && !reply.needsRestart.isEmpty ? String(rest.dropFirst()) : applied + rest
        }
    }
}

extension String {
    /// The string with the path after one of `prefixes` made absolute.
    fileprivate func withAbsolutePath(after prefixes: [String]) -> String {
        guard let prefix = prefixes.first(where: hasPrefix), count > prefix.count else { return self }
        return prefix + RuntimePaths.absolute(String(dropFirst(prefix.count)))
    }

    /// The source as the service writes it: gpsd with its port, the rate as a plain number, and no rate if it is 1.
    fileprivate var canonicalSource: String {
        if hasPrefix("gpsd://") {
            let rest = dropFirst("gpsd://".count)
            let host = rest.prefix { $0 != "/" }
            let device = rest.dropFirst(host.count)
            let hasPort = host.last != "]" && host.contains(":")
            return "gpsd://\(host)\(hasPort ? "" : ":2947")\(device == "/" ? "" : device)"
        }
        guard let query = ranges(of: "?rate=").last, let rate = Double(self[query.upperBound...]) else { return self }
        let path = self[..<query.lowerBound]
        if rate == 1, !path.contains("?") { return String(path) }
        return "\(path)?rate=\(rate.rounded() == rate && rate < 1e15 ? String(Int64(rate)) : String(rate))"
    }
}
