import ArgumentParser
import BackgrounderAPI
import SystemSupport

struct RestartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restart",
        abstract: "Stop the service and start it with the same options.",
        discussion: """
            The options are those of the `backgrounder start` that started the service; the \
            configuration file is read again, and the environment is that of this command. \
            If the configuration is faulty, the service continues. A service that systemd \
            or another supervisor started is refused: use `systemctl restart backgrounder`.

            EXAMPLE
              backgrounder restart
            """
    )

    @OptionGroup var service: ServiceOptions

    func run() async throws {
        let paths = service.paths
        let pid = try await Client(paths).call(Routes.status).pid
        let arguments = try (paths.home.map { ["--home", $0] } ?? []) + options(pid, paths)
        if let problem = try Launcher.configurationProblem(arguments) {
            throw CommandFailure("\(problem); the service, pid \(pid), continues")
        }
        _ = try await StopCommand.stop(paths)
        do {
            try Output.print("restarted, pid \(try Launcher.spawnDetached(arguments))")
        } catch let failure as CommandFailure {
            throw CommandFailure(
                "stopped, pid \(pid), but cannot start again: \(failure.description)",
                exitCode: failure.exitCode
            )
        }
    }

    /// Returns the options that the service was started with.
    ///
    /// - Throws: ``CommandFailure`` if they are unknown or cannot be used again.
    private func options(_ pid: Int32, _ paths: RuntimePaths) throws(CommandFailure) -> [String] {
        guard let record = InstanceRecord.read(paths.instance), record.pid == pid, let options = record.options else {
            throw CommandFailure(
                "the service, pid \(pid), was not started with `backgrounder start`; restart it with its supervisor, such as `systemctl restart backgrounder`"
            )
        }
        if let recording = record.recording {
            throw CommandFailure(
                "the service, pid \(pid), records to \(recording), which must be a new file; run `backgrounder stop`, then `backgrounder start --record` with another one"
            )
        }
        return options
    }
}
