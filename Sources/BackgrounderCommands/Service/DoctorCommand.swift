import ArgumentParser
import BackgrounderAPI
import FoundationEssentials
import Glibc
import SystemSupport

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the installation and suggest fixes.",
        discussion: """
            Checks the configuration, the folders, the database, gpsd, the sound, the clock, \
            the fetch sources and the restrictions of the systemd unit. The service does not \
            need to run. The exit status is 1 if a check fails.

            EXAMPLES
              backgrounder doctor
              backgrounder doctor --format json | jq '.checks[].name'
              backgrounder doctor --acknowledge        # stop reporting known damage
            """
    )

    @Flag(help: "Stop reporting a damaged or missing database.")
    var acknowledge = false
    @OptionGroup var reading: ReadingOptions

    func run() async throws {
        if acknowledge { _ = try await reading.client.call(Routes.acknowledgeHealth) }
        let report = DoctorReport(checks: await checks())
        try reading.show(report) { report in
            report.checks.map { check in
                let mark = check.ok ? Style.green("ok  ") : Style.red("FAIL")
                return "\(mark) \(check.name): \(check.message.withoutControlCharacters)"
                    + (check.hint.map { "\n       → \($0)" } ?? "")
            }.joined(separator: "\n")
        }
        let failed = report.checks.filter { !$0.ok }.map(\.name)
        guard failed.isEmpty else {
            throw CommandFailure(
                "\(failed.count == 1 ? "1 check failed" : "\(failed.count) checks failed"): \(failed.joined(separator: ", ")); see the hints above"
            )
        }
    }

    private func checks() async -> [DoctorReport.Check] {
        let paths = reading.service.paths
        let reply: Result<ServiceStatus, any Error>
        do {
            reply = .success(try await reading.client.call(Routes.status))
        } catch {
            reply = .failure(error)
        }
        var checks = [program()]
        if checks[0].ok { checks += inspection(paths, isRunning: (try? reply.get()) != nil) }
        switch reply {
        case .success(let status):
            let pushes = (try? await reading.client.call(Routes.pushes)) ?? []
            checks += service(status) + status.backgroundChecks(pushes: pushes)
        case .failure(let error):
            checks.append(.init("service", failure: "\(error)", otherwise: "see `backgrounder log`"))
        }
        return checks
    }

    private func service(_ status: ServiceStatus) -> [DoctorReport.Check] {
        var checks: [DoctorReport.Check] = [
            .init("service", true, "version \(status.version), pid \(status.pid), \(status.state.rawValue)"),
            .init(
                "version",
                status.version == Backgrounder.version,
                "command \(Backgrounder.version), service \(status.version)",
                hint: "run `backgrounder stop`, then `backgrounder start`"
            ),
        ]
        if let health = status.health { checks.append(health.check) }
        if let location = status.location { checks.append(location.check) }
        if let audio = status.audio {
            checks += self.audio(audio, configured: InstanceRecord.read(reading.service.paths.instance)?.driver)
        }
        return checks
    }

    private func program() -> DoctorReport.Check {
        let path = Launcher.daemonPath
        return .init(
            "program",
            access(path, X_OK) == 0,
            path,
            hint: "install backgrounder and backgrounderd in the same folder"
        )
    }

    /// The checks of what a start needs.
    private func inspection(_ paths: RuntimePaths, isRunning: Bool) -> [DoctorReport.Check] {
        var arguments = paths.home.map { ["--home", $0] } ?? []
        let record = InstanceRecord.read(paths.instance)
        if isRunning, let record {
            arguments += record.options ?? []
            if record.options?.contains("--config") != true, record.configuration != paths.configuration {
                arguments += ["--config", record.configuration]
            }
        }
        do {
            return try Launcher.inspection(arguments, isRunning: isRunning).checks
        } catch {
            return [.init("program", failure: "\(error)", otherwise: "install the programs again")]
        }
    }

    private func audio(_ status: AudioStatus, configured: String?) -> [DoctorReport.Check] {
        let isFallback = status.driver == "null" && configured == "auto"
        let missing = Self.missingFolder(of: configured)
        guard status.outputEnabled else {
            return [
                DoctorReport.Check(
                    "audio",
                    false,
                    "the output is disabled",
                    hint: "enable it with `backgrounder audio output on`"
                )
            ]
        }
        var checks = [
            DoctorReport.Check(
                "audio",
                status.timeControlStatus != .waiting && !isFallback && missing == nil,
                "\(status.timeControlStatus.rawValue), driver \(status.driver)\(status.device.map { ", \($0)" } ?? "")"
                    + (missing.map { ", no folder \($0)" } ?? ""),
                hint: ["wav", "raw"].contains(status.driver)
                    ? "check that the folder of the file in audio.driver exists and that the service may write to it"
                    : "check that a sound server is running and that this user may use it; `backgrounder audio drivers` shows which drivers are available"
            )
        ]
        if let error = status.lastError {
            let reason = [error.path, error.reason].compactMap(\.self).joined(separator: ": ")
            checks.append(DoctorReport.Check("last audio error", true, reason))
        }
        return checks
    }

    /// Returns the folder of a `wav:FILE` or `raw:FILE` driver if it does not exist: the next item could not be
    /// written.
    private static func missingFolder(of driver: String?) -> String? {
        let parts = driver?.split(separator: ":", maxSplits: 1).map(String.init) ?? []
        guard parts.count == 2, ["wav", "raw"].contains(parts[0]) else { return nil }
        let folder = RuntimePaths.absolute(parts[1] + "/..")
        return access(folder, F_OK) == 0 ? nil : folder
    }
}
