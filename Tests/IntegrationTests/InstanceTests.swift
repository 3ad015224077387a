import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// One service per home: its files and its start.
@Suite(.sharing) struct InstanceTests {
    @Test func `a second service of one home is refused with the pid of the first, which continues`() async throws {
        let service = try Service(TestConfiguration())
        let pid = try await service.start()
        let run = try await ProgramRun.of(Products.backgrounderd, [], environment: service.environment)
        run.expectRefusal(1, ["already running, pid \(pid)", "backgrounder stop"])
        #expect(service.pid == pid)
        let status: ServiceStatus = try await service.json("status")
        #expect(status.pid == pid)
    }

    @Test func `twenty simultaneous starts after a crash make exactly one service`() async throws {
        let service = try Service(TestConfiguration())
        try await service.start()
        try await service.crash()
        #expect(FileManager.default.fileExists(atPath: service.paths.controlSocket), "no stale socket was left")
        let down = try await service.command(["status"])
        down.expectRefusal(3, ["not running"])
        let runs = try await withThrowingTaskGroup(of: ProgramRun.self) { group in
            for _ in 0..<20 { group.addTask { try await service.command(["start"]) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let pid = try #require(service.pid)
        #expect(runs.count { $0.text == "started, pid \(pid)\n" } == 1)
        for run in runs where run.exitCode != 0 { run.expectRefusal(1, ["already running, pid \(pid)"]) }
        for run in runs where run.exitCode == 0 { #expect(run.text.hasSuffix(", pid \(pid)\n"), "\(run)") }
        let status: ServiceStatus = try await service.json("status")
        #expect(status.pid == pid)
    }

    @Test func `a start waits for a lock that a killed service left to a command`() async throws {
        let service = try Service(TestConfiguration())
        try await service.start()
        try await service.crash()
        let descriptor = open(service.paths.lock, O_RDWR | O_CLOEXEC)
        try #require(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        DispatchQueue.global().asyncAfter(deadline: .now() + 1) { close(descriptor) }
        let run = try await service.command(["start"])
        #expect(run.exitCode == 0, "\(run)")
    }

    @Test func `of two services started together, the loser names the winner`() async throws {
        let service = try Service(TestConfiguration())
        // From the second round on, the record of an earlier service exists.
        for round in 1...60 {
            let pair = try (0..<2).map { _ in try service.foreground() }
            let (loser, line) = try await withThrowingTaskGroup(of: (Int, String).self) { group in
                for (index, one) in pair.enumerated() {
                    group.addTask {
                        let line = try await one.errors.wait(for: "the refusal or the end") { lines, isAtEnd in
                            lines.first ?? (isAtEnd ? "" : nil)
                        }
                        return (index, line)
                    }
                }
                let first = try #require(try await group.next())
                for one in pair { one.process.kill() }
                while try await group.next() != nil {}
                return first
            }
            let winner = pair[1 - loser].process.pid
            try #require(line.contains("already running, pid \(winner);"), "round \(round): \(line), not \(winner)")
        }
    }

    @Test func `a reader sees a whole record while it is replaced`() async throws {
        let scratch = try ScratchDirectory()
        let path = scratch.file("instance")
        let records = ["short", String(repeating: "long", count: 500)].map {
            InstanceRecord(pid: 1, configuration: $0, source: "gpsd://localhost", driver: "null")
        }
        try records[0].write(to: path)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for number in 0..<2_000 { try records[number % 2].write(to: path) } }
            for _ in 0..<2_000 { #expect(InstanceRecord.read(path).map(records.contains) == true) }
            try await group.waitForAll()
        }
    }

    @Test func `start reports a running service and refuses options that differ from its own`() async throws {
        let source = "gpx:\(Samples.walk)?rate=1"
        let service = try Service(TestConfiguration(source: source))
        let pid = try await service.start()
        let same = [
            [], ["--source", source], ["--driver", "null"], ["--config", service.paths.configuration],
            ["--source", source, "--driver", "null"],
        ]
        for options in same {
            let run = try await service.command(["start"] + options)
            #expect(run.exitCode == 0, "\(run)")
            #expect(run.text == "already running, pid \(pid)\n", "\(run)")
        }
        let other = [
            ["--source", "gpsd://localhost:2947"], ["--driver", "auto"], ["--config", service.file("other.yaml")],
        ]
        for options in other {
            let run = try await service.command(["start"] + options)
            run.expectRefusal(1, ["already running, pid \(pid)", options[0], "backgrounder stop"])
        }
        #expect(service.pid == pid)
    }

    @Test func `the socket, folders and files are private, and an existing home keeps its mode`() async throws {
        let service = try Service(TestConfiguration(queue: [Samples.announcement]))
        chmod(service.home, 0o755)
        // The caller's umask must not matter.
        let run = try await ProgramRun.of(
            Programs.shell,
            ["-c", "umask 0; exec \"$0\" start", Products.backgrounder],
            environment: service.environment
        )
        #expect(run.exitCode == 0, "\(run)")
        func mode(_ path: String) throws -> Int {
            try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
        }
        #expect(try mode(service.home) == 0o755)
        #expect(try mode(service.paths.controlSocket) == 0o600)
        for folder in [service.paths.state, service.paths.run] { #expect(try mode(folder) == 0o700, "\(folder)") }
        for file in [service.paths.database, service.paths.log, service.paths.lock, service.paths.instance] {
            #expect(try mode(file) == 0o600, "\(file)")
        }
        let made = service.file("made")
        let other = try await service.command([
            "start", "--home", made, "--driver", "null", "--source", "gpsd://localhost:1",
        ])
        #expect(other.exitCode == 0, "\(other)")
        #expect(try mode(made) == 0o700)
        let stop = try await service.command(["stop", "--home", made])
        #expect(stop.exitCode == 0, "\(stop)")
    }

    @Test func `a second start while the service hangs reports that it is already running`() async throws {
        let service = try Service(TestConfiguration())
        let pid = try await service.start()
        let connection = try service.connection()
        kill(pid, SIGSTOP)
        try await connection.begin("GET", "/v1/status")
        let second = try await ProgramRun.of(Products.backgrounderd, [], environment: service.environment)
        second.expectRefusal(1, ["already running, pid \(pid)"])
        kill(pid, SIGCONT)
        #expect(try await connection.reply().status == 200)
    }
}
