import ArgumentParser
import BackgrounderAPI
import FoundationEssentials
import Glibc

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the installation and say what to do about what is wrong; exit 1 if a check fails.",
        discussion: """
            EXAMPLES
              backgrounder doctor
              backgrounder doctor --format json | jq '.checks[].name'
              backgrounder doctor --acknowledge        # damage was seen; stop reporting it
            """
    )

    @Flag(help: "Stop reporting a damaged or missing database that you have dealt with.")
    var acknowledge = false
    @OptionGroup var reading: ReadingOptions

    func run() async throws {
        if acknowledge { _ = try await reading.use { try await $0.call(Routes.acknowledgeHealth) } }
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
                "\(failed.count == 1 ? "a check fails" : "\(failed.count) checks fail"): \(failed.joined(separator: ", ")); see the hints above"
            )
        }
    }

    private func checks() async -> [DoctorReport.Check] {
        let paths = reading.service.paths
        var checks = [program(), configuration(paths), folder("state", paths.state), folder("socket", paths.run)]
        do {
            let (status, pushes) = try await Client.use(paths) { client in
                (try await client.call(Routes.status), (try? await client.call(Routes.pushes)) ?? [])
            }
            checks.append(
                .init("service", true, "version \(status.version), pid \(status.pid), \(status.state.rawValue)")
            )
            checks.append(
                .init(
                    "version",
                    status.version == Backgrounder.version,
                    "command \(Backgrounder.version), service \(status.version)",
                    hint: "restart the service: `backgrounder stop`, `backgrounder start`"
                )
            )
            if let health = status.health { checks.append(health.check) }
            if let location = status.location { checks.append(self.location(location)) }
            if let audio = status.audio {
                checks += self.audio(audio, configured: InstanceRecord.read(paths.instance)?.driver)
            }
            checks += status.backgroundChecks(pushes: pushes)
        } catch {
            checks.append(.init("service", false, "\(error)", hint: "start it with `backgrounder start`"))
        }
        return checks
    }

    private func program() -> DoctorReport.Check {
        let path = Launcher.daemonPath
        return .init(
            "program",
            access(path, X_OK) == 0,
            path,
            hint: "install backgrounder and backgrounderd in one folder"
        )
    }

    private func configuration(_ paths: RuntimePaths) -> DoctorReport.Check {
        let file = InstanceRecord.read(paths.lock)?.configuration ?? paths.configuration
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
            problem ?? (isThere ? file : "no \(file), so the defaults hold"),
            hint: "correct the file; `backgrounder reload` or a restart reads it again"
        )
    }

    private func folder(_ name: String, _ path: String) -> DoctorReport.Check {
        let exists = access(path, F_OK) == 0
        return .init(
            "\(name) folder",
            !exists || access(path, W_OK) == 0,
            exists ? path : "\(path), made at the first start",
            hint: "give this user the right to write there, or another folder with --home"
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
                ? "is gpsd running and listening there? `gpspipe -w -n 3` shows what it says"
                : "look at `backgrounder location`; a coarser `backgrounder location accuracy` takes more"
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
                    + (missing.map { ", there is no folder \($0)" } ?? ""),
                hint: ["wav", "raw"].contains(status.driver)
                    ? "is there such a folder, and may the service write in it? audio.driver names the file"
                    : "is a sound server running, and may this user use it? `backgrounder audio drivers` shows what can be opened"
            )
        ]
        if let error = status.lastError {
            let reason = [error.path, error.reason].compactMap(\.self).joined(separator: ": ")
            checks.append(DoctorReport.Check("last audio error", true, reason))
        }
        return checks
    }

    /// The folder of a `wav:FILE` or `raw:FILE` where it is gone: the next item has nowhere to play to.
    private static func missingFolder(of driver: String?) -> String? {
        let parts = driver?.split(separator: ":", maxSplits: 1).map(String.init) ?? []
        guard parts.count == 2, ["wav", "raw"].contains(parts[0]) else { return nil }
        let folder = RuntimePaths.absolute(parts[1] + "/..")
        return access(folder, F_OK) == 0 ? nil : folder
    }
}

/// What the doctor found.
struct DoctorReport: Codable {
    struct Check: Codable {
        var name: String
        var ok: Bool
        var message: String
        /// What to do; only where the check failed.
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

/// Colours, on a terminal only.
enum Style {
    static func green(_ text: String) -> String { wrap(text, 32) }
    static func red(_ text: String) -> String { wrap(text, 31) }

    private static func wrap(_ text: String, _ code: Int) -> String {
        let isWanted = Output.isTerminal && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
        return isWanted ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
