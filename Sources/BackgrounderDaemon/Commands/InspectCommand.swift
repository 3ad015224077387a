import ArgumentParser
import BackgrounderAPI
import Glibc
import SystemSupport

/// `backgrounderd inspect`: checks what a start needs, and prints the results as one line of JSON.
struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Do the work of `backgrounder doctor`.",
        shouldDisplay: false
    )

    @Flag(help: "The service runs.")
    var running = false
    /// The parent command has the options of the service, which are parsed first.
    @ParentCommand var service: DaemonCommand

    func run() async throws {
        let paths = RuntimePaths.addressed(home: service.home)
        let unit = SystemdUnit.current().flatMap { unit in
            let isSystem = paths.state == RuntimePaths.system.state
            return isSystem || unit.pid != nil && unit.pid == InstanceRecord.read(paths.instance)?.pid ? unit : nil
        }
        if let unit, let problem = become(unit.user) {
            try print([.init("user", true, problem)])
            return
        }
        let inspection = Inspection(
            paths: paths,
            source: service.configurationSource(paths),
            isRunning: running,
            unit: unit
        )
        try print(await inspection.checks())
    }

    /// Gives this process the rights of the service's user; returns why that is impossible, or `nil`.
    private func become(_ name: String) -> String? {
        guard let user = getpwnam(name)?.pointee, user.pw_uid != geteuid() else { return nil }
        guard geteuid() == 0 else {
            return "the service runs as the user \(name); run this with sudo to check its configuration and its folders"
        }
        guard initgroups(name, user.pw_gid) == 0, setgid(user.pw_gid) == 0, setuid(user.pw_uid) == 0 else {
            return "cannot check as the user \(name): \(systemMessage(errno))"
        }
        return nil
    }

    private func print(_ checks: [DoctorReport.Check]) throws {
        do {
            try StandardOutput.write(JSON.line(DoctorReport(checks: checks)) + "\n")
        } catch let error as OutputError {
            DaemonCommand.fail(error)
        }
    }
}
