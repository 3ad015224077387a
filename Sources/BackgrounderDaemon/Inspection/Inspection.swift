import AudioPlayback
import BackgrounderAPI
import FoundationEssentials
import Glibc
import LocationUpdates
import StateStore
import SystemSupport

/// The checks of what a start needs. They change nothing, and block.
struct Inspection {
    let paths: RuntimePaths
    let source: ConfigurationSource
    /// Whether the service runs. It then reports the database, the location and the sound itself.
    let isRunning: Bool
    let unit: SystemdUnit?

    func checks() async -> [DoctorReport.Check] {
        var (checks, configuration) = checkConfiguration()
        checks += [
            folder("state folder", paths.state, paths.checkState), folder("socket folder", paths.run, paths.checkRun),
            freeSpace(),
        ]
        if !isRunning { checks.append(database()) }
        if let configuration {
            checks += media(configuration)
            checks += await PageChecks(configuration: configuration).checks()
            if let metrics = metrics(configuration) { checks.append(metrics) }
        }
        checks.append(clock())
        guard let configuration else { return checks }
        if !isRunning {
            checks.append(location(configuration))
            checks.append(await sound(configuration))
        }
        return checks + (unit?.checks(configuration) ?? [])
    }

    /// One check for each fault, or for the valid configuration.
    private func checkConfiguration() -> ([DoctorReport.Check], DaemonConfiguration?) {
        let remedy = "correct the file, then run `backgrounder reload` or restart the service"
        func failed(_ text: String) -> DoctorReport.Check { .init("configuration", failure: text, otherwise: remedy) }
        do {
            let configuration = try source.load()
            try TrustedPath.require(configuration.file)
            _ = try SocketAccess(
                group: configuration.value(Keys.controlGroup),
                executing: configuration.value(Keys.controlExecute)
            )
            let isThere = access(configuration.file, F_OK) == 0
            let file = isThere ? configuration.file : "no \(configuration.file); using the defaults"
            let warnings = configuration.warnings.map { DoctorReport.Check("configuration warning", true, $0) }
            return ([.init("configuration", true, file)] + warnings, configuration)
        } catch let error as ConfigurationError {
            return (error.faults.map { failed($0.description) }, nil)
        } catch {
            return ([failed("\(error)")], nil)
        }
    }

    private func folder(_ name: String, _ path: String, _ check: () throws(StartError) -> Void) -> DoctorReport.Check {
        do throws(StartError) {
            try check()
            return .init(name, true, access(path, F_OK) == 0 ? path : "\(path), created at the first start")
        } catch {
            return .init(name, failure: error.description, otherwise: "choose another folder with --home")
        }
    }

    /// Bytes. Tuned: SQLite's log grows to 16 MB before its content moves to the database, and the log file to 16 MiB.
    private static let leastSpace: UInt64 = 32 << 20

    private func freeSpace() -> DoctorReport.Check {
        let folder = RuntimePaths.existing(paths.state)
        var system = statvfs()
        guard statvfs(folder, &system) == 0 else {
            return .init(
                "free space",
                false,
                "cannot read the free space of \(folder): \(systemMessage(errno))",
                hint: "check the file system of \(folder)"
            )
        }
        let space = UInt64(system.f_bavail) * UInt64(system.f_frsize)
        return .init(
            "free space",
            space >= Self.leastSpace,
            "\(space >> 20) MiB free in \(folder)",
            hint: "free at least \(Self.leastSpace >> 20) MiB on the file system of \(folder)"
        )
    }

    private func database() -> DoctorReport.Check {
        switch StateStore.fault(at: paths.database) {
        case nil:
            .init(
                "database",
                true,
                paths.database + (access(paths.database, F_OK) == 0 ? "" : ", created at the first start")
            )
        case .missing:
            .init(
                "database",
                false,
                "\(paths.database) existed before, and is missing or empty",
                hint: "restore it with `backgrounder restore FILE`, or start the service with a new one"
            )
        case .damaged(let reason):
            .init(
                "database",
                false,
                "\(paths.database) is damaged: \(reason)",
                hint: "start the service: it moves the readable rows to a new file and keeps the old one"
            )
        case .refused(let error):
            .init("database", failure: error.description, otherwise: "check the file's owner and mode")
        }
    }

    /// The files that the configuration names: one check for each missing one.
    private func media(_ configuration: DaemonConfiguration) -> [DoctorReport.Check] {
        func missing(_ name: String, _ key: String, _ path: String, _ mode: Int32) -> DoctorReport.Check? {
            guard unit?.hides(path) != true, access(path, mode) != 0 else { return nil }
            let reason = systemMessage(errno)
            return .init(
                name,
                false,
                "cannot read \(path): \(reason)",
                hint: "create it, give this user access, or correct \(key) in \(configuration.file)"
            )
        }
        let queue = configuration.value(Keys.queue).filter { !StreamAddress.isAddress($0) }
        let broken = queue.compactMap { missing("queue", Keys.queue.name, $0, R_OK) }
        var checks = broken
        if broken.isEmpty, !queue.isEmpty {
            checks.append(.init("queue", true, "\(counted(queue.count, "entry")) of audio.queue"))
        }
        if let folder = configuration.value(Keys.musicDirectory) {
            var isFolder = false
            let isFile = FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) && !isFolder
            checks.append(
                isFile
                    ? .init(
                        "music folder",
                        false,
                        "\(folder) is not a folder",
                        hint: "correct \(Keys.musicDirectory.name) in \(configuration.file)"
                    )
                    : missing("music folder", Keys.musicDirectory.name, folder, R_OK | X_OK)
                        ?? .init("music folder", true, folder)
            )
        }
        return checks
    }

    private func metrics(_ configuration: DaemonConfiguration) -> DoctorReport.Check? {
        guard let path = configuration.value(Keys.metricsTextfile) else { return nil }
        let folder = splitPath(path).folder + "/"
        guard unit?.hides(folder) != true, access(folder, W_OK | X_OK) != 0 else { return .init("metrics", true, path) }
        return .init(
            "metrics",
            false,
            "cannot write to \(folder): \(systemMessage(errno))",
            hint: "create it, give this user access, or correct \(Keys.metricsTextfile.name) in \(configuration.file)"
        )
    }

    private func clock() -> DoctorReport.Check {
        if TrustedClock.systemTime() != nil { return .init("clock", true, "synchronised") }
        // Without a clock that keeps the time while the power is off, a machine starts in the past.
        for file in [paths.database, source.file ?? source.standardFile] {
            var facts = stat()
            // Tuned: file servers differ by seconds
            guard stat(file, &facts) == 0, facts.st_mtim.tv_sec > time(nil) + 60 else { continue }
            let changed = ISO8601.string(Date(timeIntervalSince1970: Double(facts.st_mtim.tv_sec)))
            return .init(
                "clock",
                false,
                "it is \(ISO8601.string(Date())), but \(file) was changed at \(changed)",
                hint: "set the clock, for example with `sudo timedatectl set-ntp true`"
            )
        }
        return .init(
            "clock",
            true,
            "not synchronised; no point is deleted because of its age until gpsd knows the time"
        )
    }

    private func location(_ configuration: DaemonConfiguration) -> DoctorReport.Check {
        if let reason = configuration.locationOffReason { return .init("location", true, "off: \(reason)") }
        guard case .gpsd(let address) = configuration.value(Keys.source) else {
            return .init("location", true, "\(configuration.value(Keys.source))")
        }
        let (quality, reason) = GPSDProbe.quality(of: address)
        let words =
            switch quality {
            case .ok: "gpsd has a fix"
            case .searching: "gpsd has a receiver without a fix"
            case .silent: "gpsd has a receiver that sends nothing"
            case .noDevice: "gpsd has no receiver"
            case .disconnected, .starved: "cannot reach gpsd"
            }
        return .init(
            "location",
            quality.remedy == nil,
            "\(address), \(quality.rawValue): \(words)" + (reason.map { ": \($0)" } ?? ""),
            hint: quality.remedy
        )
    }

    private func sound(_ configuration: DaemonConfiguration) async -> DoctorReport.Check {
        let driver = configuration.value(Keys.driver)
        let opens = await SoundProbe.opens(driver)
        return .init(
            "audio",
            opens,
            opens ? "driver \(driver)" : "no sound device opens with the driver \(driver)",
            hint: "start a sound server that this user may use, or set audio.driver: null in \(configuration.file)"
        )
    }
}
