import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// `doctor` without a running service: each fault is produced, and has one finding with one remedy.
@Suite(.sharing) struct DoctorTests {
    private let service: Service

    init() throws { service = try Service(TestConfiguration()) }

    /// Runs `doctor`, perhaps after a script in namespaces of its own, and returns the failed checks except that the
    /// service does not run.
    private func faults(
        after script: String? = nil,
        adding variables: [String: String] = [:]
    ) async throws -> [DoctorReport.Check] {
        try await checks(after: script, adding: variables).filter { !$0.ok && $0.name != "service" }
    }

    private func checks(
        after script: String? = nil,
        adding variables: [String: String] = [:]
    ) async throws -> [DoctorReport.Check] {
        let doctor = [Products.backgrounder, "doctor", "--format", "json"]
        let shell = [Programs.shell, "-ec", "\(script ?? ":")\nexec \"$@\"", "sh"] + doctor
        let run = try await ProgramRun.of(
            script == nil ? Products.backgrounder : "/usr/bin/unshare",
            script == nil ? Array(doctor.dropFirst()) : ["-m", "--propagation", "private"] + shell,
            environment: service.environment.merging(variables) { $1 }
        )
        try #require(run.exitCode == 1, "\(run)")
        let report = try JSON.decode(DoctorReport.self, from: run.output)
        for check in report.checks { #expect(check.ok == (check.hint == nil), "\(check)") }
        #expect(Set(report.checks.map(\.name)).isSuperset(of: ["program", "service"]))
        return report.checks
    }

    /// Expects one failed check with this name, message and hint.
    private func expect(
        _ faults: [DoctorReport.Check],
        _ name: String,
        _ message: String,
        _ hint: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(faults.map(\.name) == [name], "\(faults)", sourceLocation: sourceLocation)
        #expect(faults.first?.message.contains(message) == true, "\(faults)", sourceLocation: sourceLocation)
        #expect(faults.first?.hint?.contains(hint) == true, "\(faults)", sourceLocation: sourceLocation)
    }

    private func makeState(_ content: [String: String] = [:]) throws {
        try FileManager.default.createDirectory(
            atPath: service.paths.state,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        for (name, text) in content { try service.scratch.write(text, to: "state/\(name)") }
    }

    @Test func `without a fault only the service is missing, and nothing is created`() async throws {
        #expect(try await faults().isEmpty)
        #expect(!FileManager.default.fileExists(atPath: service.paths.state))
        #expect(!FileManager.default.fileExists(atPath: service.paths.run))
    }

    @Test func `every fault of the configuration is a finding with its remedy`() async throws {
        try service.configure(yaml: "modes: [audio, dance]\naudio: {volume: 3, latency: 9s}\n")
        let faults = try await faults()
        #expect(faults.map(\.name) == ["configuration", "configuration", "configuration"], "\(faults)")
        let file = service.paths.configuration
        #expect(faults.first?.message == "\(file):1: modes: \"dance\" is not valid")
        #expect(faults.first?.hint == "use a list of audio, location, fetch, remote-notification")
        #expect(faults.last?.message == "\(file):2: audio.latency: \"9s\" is not valid")
        #expect(faults.last?.hint == "use a duration from 20ms to 2s")
    }

    @Test func `a group that does not exist is reported`() async throws {
        try service.configure(TestConfiguration(rest: ["control: {group: absent}"]))
        expect(try await faults(), "configuration", "no group \"absent\"", "remove the key")
    }

    @Test func `a certificate that ends, a wrong key and a map that cannot be used are reported`() async throws {
        try await Certificate.make(in: service.scratch)
        let page = ["web:", "  listen: [\"127.0.0.1:8443\"]", "  hosts: [a]", "  tls: {certificate: cert, key: key}"]
        try service.configure(TestConfiguration(rest: page))
        expect(try await faults(), "page", "is valid for 1 day", "renew the certificate")
        try service.scratch.write("no key\n", to: "key")
        expect(try await faults(), "page", "web.tls.key: cannot use", "correct the file")
        try service.configure(TestConfiguration(rest: ["web: {map: none.mbtiles}"]))
        expect(try await faults(), "page", "there is no such file", "name another file in web.map")
    }

    @Test func `a missing folder for the metrics is reported`() async throws {
        try service.configure(TestConfiguration(rest: ["metrics: {textfile: absent/backgrounder.prom}"]))
        expect(try await faults(), "metrics", "No such file or directory", "metrics.textfile")
    }

    @Test func `a file in place of the state folder is reported`() async throws {
        try service.scratch.write("", to: "state")
        expect(try await faults(), "state folder", "\(service.paths.state) is not a folder", "--home")
    }

    @Test func `folders of other users and symbolic links are reported`() async throws {
        try makeState()
        try #require(chown(service.paths.state, 65_534, 65_534) == 0, "this test needs root")
        expect(try await faults(), "state folder", "belongs to user 65534", "use a folder of root or of this user")
        try #require(chown(service.paths.state, 0, 0) == 0)
        try #require(symlink("/dev/null", service.paths.database) == 0)
        expect(try await faults(), "state folder", "is a symbolic link", "remove it")
    }

    @Test func `a read-only file system is reported`() async throws {
        try makeState()
        let mount = "mount -t tmpfs -o ro,mode=700 tmpfs '\(service.paths.state)'"
        let faults = try await faults(after: mount)
        expect(faults, "state folder", "cannot write to \(service.paths.state)", "mount its file system writable")
    }

    @Test func `a full file system is reported`() async throws {
        try makeState()
        let state = service.paths.state
        let faults = try await faults(
            after: """
                mount -t tmpfs -o size=1m,mode=700 tmpfs '\(state)'
                dd if=/dev/zero of='\(state)/ballast' bs=4k 2> /dev/null || true
                """
        )
        expect(faults, "free space", "0 MiB free in \(state)", "free at least 32 MiB")
    }

    @Test func `a socket path that is too long is reported`() async throws {
        let home = service.file(String(repeating: "x", count: 100))
        let faults = try await faults(adding: ["BACKGROUNDER_HOME": home])
        #expect(faults.first { $0.name == "socket folder" }?.message.contains("more than 107") == true, "\(faults)")
        #expect(faults.first { $0.name == "socket folder" }?.hint == "use a shorter --home")
    }

    @Test func `a damaged or missing database is reported and not changed`() async throws {
        let garbage = String(repeating: "not a database\n", count: 100)
        try makeState(["backgrounder.sqlite": garbage])
        expect(try await faults(), "database", "is damaged: file is not a database", "start the service")
        #expect(try String(contentsOfFile: service.paths.database, encoding: .utf8) == garbage)
        try service.scratch.write("", to: "state/backgrounder.sqlite")
        try service.scratch.write("", to: "state/backgrounder.sqlite-position")
        expect(try await faults(), "database", "is missing or empty", "backgrounder restore")
    }

    @Test func `a damaged page of a real database is reported`() async throws {
        try await service.start()
        try await service.run("stop")
        #expect(try await faults().isEmpty)
        let file = try #require(FileHandle(forUpdatingAtPath: service.paths.database))
        // The root pages of the first tables.
        try file.seek(toOffset: 4096 * 2)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4096 * 30))
        try file.close()
        expect(try await faults(), "database", "is damaged", "start the service")
    }

    @Test func `missing files of the queue and a missing music folder are reported one by one`() async throws {
        let folder = service.file("music")
        try service.configure(
            yaml: """
                modes: [audio]
                audio: {driver: "null", musicDirectory: "\(folder)", queue: [/nowhere/a.mp3, "\(Samples.announcement)", /nowhere/b]}
                """
        )
        let faults = try await faults()
        #expect(faults.map(\.name) == ["queue", "queue", "music folder"], "\(faults)")
        #expect(faults.map(\.message.lastWord) == ["directory", "directory", "directory"], "\(faults)")
        #expect(faults.first?.message.contains("cannot read /nowhere/a.mp3") == true, "\(faults)")
        #expect(faults.last?.hint?.contains("correct audio.musicDirectory") == true, "\(faults)")
        try service.scratch.write("", to: "music")
        #expect(try await self.faults().last?.message == "\(folder) is not a folder")
    }

    @Test func `a clock that is behind a file of the service is reported`() async throws {
        let clock = try await checks().first { $0.name == "clock" }
        let future = Date(timeIntervalSinceNow: 86_400 * 365)
        let file = service.paths.configuration
        try FileManager.default.setAttributes([.modificationDate: future], ofItemAtPath: file)
        // A clock that the kernel calls synchronised is right, and the file is wrong.
        let faults = try await faults()
        if clock?.message == "synchronised" {
            #expect(faults.isEmpty, "\(faults)")
        } else {
            expect(faults, "clock", "\(file) was changed at", "timedatectl set-ntp true")
        }
    }

    @Test func `a sound device that does not open is reported`() async throws {
        try service.configure(TestConfiguration(driver: "pulse"))
        let faults = try await faults(adding: ["PULSE_SERVER": "unix:/nowhere", "XDG_RUNTIME_DIR": service.home])
        expect(faults, "audio", "no sound device opens with the driver pulse", "start a sound server")
    }

    // MARK: - gpsd

    @Test func `gpsd that is not reachable, or has no receiver, is reported with its remedy`() async throws {
        let port = try freePort(SOCK_STREAM)
        try service.configure(TestConfiguration(source: "gpsd://127.0.0.1:\(port)"))
        expect(try await faults(), "location", "disconnected: cannot reach gpsd", "gpsctl")
        let gpsd = try ForegroundProcess(Programs.gpsd, ["-N", "-n", "-S", "\(port)", "-F", service.file("gpsd.sock")])
        try await waitForListener(port)
        expect(try await faults(), "location", "noDevice: gpsd has no receiver", "cable")
        gpsd.kill()
        try await gpsd.waitForEnd()
    }

    @Test func `a receiver that is silent, or has no fix, is reported with its remedy until it has one`() async throws {
        let receiver = try Receiver()
        try service.configure(TestConfiguration(source: receiver.source))
        let gpsd = try receiver.startGPSD()
        try await waitForListener(receiver.port)
        expect(try await faults(), "location", "silent: gpsd has a receiver that sends nothing", "cable")

        let blind = try receiver.feedWithoutFix()
        expect(try await faults(), "location", "searching: gpsd has a receiver without a fix", "view of the sky")
        blind.kill()
        try await blind.waitForEnd()

        let feed = try receiver.feed(Products.repository("tracks/freeway-drive.gpx"), "--rate", "20")
        #expect(try await faults().isEmpty)
        feed.stop()
        gpsd.kill()
    }

    @Test func `a running service without a fix is reported with the same remedy`() async throws {
        let receiver = try Receiver()
        let gpsd = try receiver.startGPSD()
        try await waitForListener(receiver.port)
        let blind = try receiver.feedWithoutFix()
        try service.configure(TestConfiguration(source: receiver.source))
        try await service.start()
        try await service.events().wait(forState: "search") { $0.status.location?.quality == .searching }
        expect(try await faults(), "location", "searching", "view of the sky")
        blind.kill()
        gpsd.kill()
    }

    /// Waits until a program listens on the loopback port.
    private func waitForListener(_ port: Int) async throws {
        for _ in 0..<1000 {
            if let descriptor = try? connectLoopback(port: port) {
                close(descriptor)
                return
            }
            await pause(seconds: 0.01)
        }
        Issue.record("nothing listens on port \(port)")
    }

    // MARK: - The running service

    @Test func `a fetch source is reported after three failures, with the command that shows why`() async throws {
        try service.configure(TestConfiguration(modes: "[audio, fetch]"))
        try await service.start()
        for name in ["bad", "worse", "good"] {
            let command = name == "good" ? "true" : "false"
            try await service.run("fetch", "add", name, "--exec", command, "--interval", "never")
        }
        _ = try await service.command(["fetch", "run", "bad"])
        #expect(try await service.run("doctor").text.contains("ok   fetch sources: bad failed once"))
        for _ in 0..<2 { _ = try await service.command(["fetch", "run", "bad"]) }
        for _ in 0..<3 { _ = try await service.command(["fetch", "run", "worse"]) }
        let faults = try await faults()
        #expect(faults.map(\.name) == ["fetch sources", "fetch sources"], "\(faults)")
        #expect(faults.map(\.message) == ["bad failed 3 times in a row", "worse failed 3 times in a row"])
        #expect(faults.last?.hint == "`backgrounder fetch log worse` shows why")
    }

    // MARK: - The unit

    @Test func `restrictions of the unit that contradict the configuration are reported`() async throws {
        try service.configure(
            TestConfiguration(
                modes: "[audio, fetch]",
                queue: ["/home/ann/Music"],
                rest: ["transfers: {roots: [/srv/in]}"]
            )
        )
        let pid = try await service.start()
        let faults = try await faults(
            adding: systemctl(
                "MainPID=\(pid)",
                "User=root",
                "IPAddressAllow=127.0.0.0/8 ::1/128",
                "IPAddressDeny=0.0.0.0/0 ::/0",
                "ProtectHome=tmpfs",
                "ProtectSystem=strict",
                "StateDirectory=backgrounder"
            )
        )
        #expect(Set(faults.map(\.name)) == ["systemd unit"], "\(faults)")
        let lines = faults.compactMap { $0.hint?.split(separator: " ").first { $0.contains("=") } }
        #expect(lines == ["IPAddressAllow=any", "BindReadOnlyPaths=/home/ann/Music", "ReadWritePaths=/srv/in"])
    }

    @Test func `root checks with the rights of the unit's user`() async throws {
        let pid = try await service.start()
        let faults = try await faults(adding: systemctl("MainPID=\(pid)", "User=nobody"))
        let folder = try #require(faults.first { $0.name == "state folder" }, "\(faults)")
        #expect(folder.message.contains("cannot write to \(service.paths.state): Permission denied"))
    }

    /// Returns the variables with which programs find a systemctl that prints these properties of a loaded unit.
    private func systemctl(_ properties: String...) async throws -> [String: String] {
        let bin = service.file("bin")
        try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: false)
        let lines = (["LoadState=loaded"] + properties).joined(separator: "\n")
        _ = try await service.scratch.script("cat << END\n\(lines)\nEND", to: "bin/systemctl")
        return ["PATH": "\(bin):/usr/bin:/bin"]
    }
}

extension String {
    fileprivate var lastWord: String { split { " ;".contains($0) }.last.map(String.init) ?? "" }
}
