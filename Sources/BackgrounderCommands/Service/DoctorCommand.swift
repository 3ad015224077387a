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
            The exit status is 1 if a check fails.

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
        var checks = [program(), configuration(paths), folder("state", paths.state), folder("socket", paths.run)]
        do {
            let client = Client(paths)
            let status = try await client.call(Routes.status)
            let pushes = (try? await client.call(Routes.pushes)) ?? []
            checks.append(
                .init("service", true, "version \(status.version), pid \(status.pid), \(status.state.rawValue)")
            )
            checks.append(
                .init(
                    "version",
                    status.version == Backgrounder.version,
                    "command \(Backgrounder.version), service \(status.version)",
                    hint: "run `backgrounder stop`, then `backgrounder start`"
                )
            )
            if let health = status.health { checks.append(health.check) }
            if let location = status.location { checks.append(self.location(location)) }
            if let audio = status.audio {
                checks += self.audio(audio, configured: InstanceRecord.read(paths.instance)?.driver)
            }
            checks += status.backgroundChecks(pushes: pushes)
        } catch {
            // The error says what to do after its last semicolon.
            let parts = "\(error)".split(separator: "; ")
            let message = parts.count > 1 ? parts.dropLast().joined(separator: "; ") : "\(error)"
            let hint = parts.count > 1 ? String(parts[parts.count - 1]) : "see `backgrounder log`"
            checks.append(.init("service", false, message, hint: hint))
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

    private func configuration(_ paths: RuntimePaths) -> DoctorReport.Check {
        let file = InstanceRecord.read(paths.instance)?.configuration ?? paths.configuration
        var arguments = paths.home.map { ["--home", $0] } ?? []
        if file != paths.configuration { arguments += ["--config", file] }
        let problem: String?
        do {
            problem = try Launcher.configurationProblem(arguments)
        } catch {
            problem = "\(error)"
        }
        let isThere = access(file, F_OK) == 0
        return .init(
            "configuration",
            problem == nil,
            problem ?? (isThere ? file : "no \(file); using the defaults"),
            hint: "correct the file, then run `backgrounder reload` or restart the service"
        )
    }

    private func folder(_ name: String, _ path: String) -> DoctorReport.Check {
        let exists = access(path, F_OK) == 0
        return .init(
            "\(name) folder",
            !exists || access(path, W_OK) == 0,
            exists ? path : "\(path), created at the first start",
            hint: "give this user write access, or choose another folder with --home"
        )
    }

    private func location(_ status: LocationStatus) -> DoctorReport.Check {
        let isWell =
            switch status.quality {
            case .ok, .searching, nil: true
            case .starved, .silent, .noDevice, .disconnected: !status.updating
            }
        let detail = status.qualityDetail.map { ": \($0)" } ?? ""
        return .init(
            "location",
            isWell,
            "\(status.connection.rawValue), \(status.source), \(status.quality?.rawValue ?? "off")\(detail)",
            hint: status.connection == .waiting
                ? "check that gpsd is running and listening there; `gpspipe -w -n 3` prints what it sends"
                : "see `backgrounder location`; a coarser `backgrounder location accuracy` accepts more fixes"
        )
    }

    private func audio(_ status: AudioStatus, configured: String?) -> [DoctorReport.Check] {
        let isFallback = status.driver == "null" && configured == "auto"
        let missing = Self.missingFolder(of: configured)
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

/// The results of all checks.
struct DoctorReport: Codable {
    struct Check: Codable {
        var name: String
        var ok: Bool
        var message: String
        /// The suggested fix; `nil` if the check passed.
        var hint: String?

        init(_ name: String, _ ok: Bool, _ message: String, hint: String? = nil) {
            self.name = name
            self.ok = ok
            self.message = message
            self.hint = ok ? nil : hint
        }
    }

    var checks: [Check]
}
