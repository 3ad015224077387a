import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// A disk that fails under a service that tracks and plays: it is reported while it lasts, and no answer promises too much.
@Suite(.serialized) struct StorageFaultTests {
    /// A service whose state lies on a small file system of its own.
    private struct Rig {
        let service: Service
        let process: ForegroundProcess

        /// - Parameter rate: of the replayed drive, points a second.
        init(rate: Int = 20) async throws {
            service = try Service(
                TestConfiguration(
                    source: "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=\(rate)",
                    queue: [
                        Products.repository("media/quiet-waltz.mp3"), Products.repository("media/morning-tune.mp3"),
                    ],
                    autoplay: true
                )
            )
            try FileManager.default.createDirectory(atPath: service.file("state"), withIntermediateDirectories: false)
            process = try await service.start(
                unsharing: ["-m", "--propagation", "private"],
                after: "mount -t tmpfs -o size=24m tmpfs '\(service.file("state"))'"
            )
        }

        private var folder: String { "/proc/\(process.pid)/root\(service.file("state"))" }

        /// Leaves no room at all.
        func fillDisk() throws {
            let descriptor = open("\(folder)/ballast", O_WRONLY | O_CREAT | O_APPEND, 0o600)
            defer { close(descriptor) }
            let block = [UInt8](repeating: 0, count: 4096)
            while write(descriptor, block, block.count) > 0 {}
            #expect(errno == ENOSPC)
        }

        func makeRoom() throws { try FileManager.default.removeItem(atPath: "\(folder)/ballast") }

        func storedPoints() async throws -> Int {
            let output = try await Tool.run(
                "nsenter",
                "-t",
                "\(process.pid)",
                "-m",
                Programs.sqlite,
                "-readonly",
                service.paths.database,
                "SELECT count(*) FROM location"
            )
            let text = String(decoding: output, as: UTF8.self)
            return try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)), "\(text)")
        }

        func end() async throws {
            process.kill(SIGTERM)
            try await process.waitForEnd()
        }
    }

    @Test func `a full disk is reported everywhere within 2 s, and its end, too`() async throws {
        let rig = try await Rig()
        let service = rig.service
        let events = try service.events()
        try await events.wait(forState: "a stored point") { ($0.status.location?.stored ?? 0) > 0 }
        try rig.fillDisk()
        let (_, took) = try await time {
            try await events.wait(for: "the event") { $0.payloads("health").last?.contains("\"failing\"") }
        }
        #expect(took < .seconds(2), "\(took)")
        try await events.wait(forState: "points that wait") { ($0.status.location?.waiting ?? 0) > 1 }

        let status: ServiceStatus = try await service.json("status")
        #expect(status.health?.state == .failing)
        #expect(status.health?.problems.map(\.kind) == [.diskFull])
        #expect(status.health?.problems.first?.hint.contains("free space") == true)
        #expect((status.health?.lasts ?? 0) > 0)
        let location: LocationStatus = try await service.json("location")
        #expect(location.health?.state == .failing)
        #expect(location.waiting > 0)
        #expect(location.received == location.accepted + location.rejected.total)
        #expect(location.accepted == location.stored + location.waiting + location.dropped)
        #expect(try await rig.storedPoints() == location.stored)
        let audio: AudioStatus = try await service.json("audio")
        #expect(audio.health?.state == .failing)
        let doctor = try await service.command(["doctor"])
        #expect(doctor.exitCode == 1)
        #expect(doctor.text.contains("FAIL storage") && doctor.text.contains("the disk is full"), "\(doctor)")
        #expect(try await service.run("status").text.contains("storage   cannot write"))
        #expect(
            service.logLines().contains {
                $0.contains(" error Storage: cannot write") && $0.contains("the disk is full")
            }
        )

        try rig.makeRoom()
        // A reader of its own: the states before the fault were well, too.
        let well = try await service.events().wait(forState: "everything stored") {
            $0.status.health?.state == .ok && $0.status.location?.waiting == 0
        }
        #expect(well.status.location?.health == nil)
        #expect(well.status.location?.dropped == 0)
        try await rig.end()
        #expect(service.logLines().contains { $0.contains("Storage: the database can be written again.") })
    }

    @Test func `on a full disk changes are refused, and what must work works and says that it is not stored`()
        async throws
    {
        let rig = try await Rig()
        let service = rig.service
        let events = try service.events()
        try await events.wait(forState: "a stored point") { ($0.status.location?.stored ?? 0) > 0 }
        let before: [PlayerItem] = try await service.json("queue")
        try rig.fillDisk()
        try await events.wait(forState: "a failing disk") { $0.status.health?.state == .failing }
        let connection = try service.connection()
        let song = try JSON.line(Products.repository("media/harbour-chimes.mp3"))
        let changes = [
            ("POST", "/v1/queue", "{\"items\":[\(song)]}"),
            ("POST", "/v1/audio/play", "{\"items\":[\(song)]}"),
            ("PATCH", "/v1/audio", #"{"volume":7}"#),
            ("DELETE", "/v1/queue/\(before[1].id)", nil),
            ("PATCH", "/v1/queue/\(before[1].id)", #"{"position":0}"#),
            ("POST", "/v1/queue/shuffle", "{}"),
            ("DELETE", "/v1/queue", nil),
            ("PATCH", "/v1/location", #"{"distanceFilter":50}"#),
            ("POST", "/v1/tasks", #"{"name":"a","command":["true"],"directory":"/"}"#),
            ("POST", "/v1/task-hooks", #"{"name":"a","command":["true"],"directory":"/"}"#),
            ("POST", "/v1/fetch", #"{"name":"news","url":"http://127.0.0.1:9/feed"}"#),
            ("PATCH", "/v1/refresh", #"{"enabled":false}"#),
        ]
        for (method, path, body) in changes {
            let reply = try await connection.send(method, path, body: body)
            #expect(reply.status == 503, "\(method) \(path): \(reply.status) \(reply.text)")
            #expect(reply.text.contains("the disk is full"), "\(method) \(path): \(reply.text)")
        }
        #expect(try await service.json("queue", as: [PlayerItem].self).map(\.id) == before.map(\.id))
        let audio: AudioStatus = try await service.json("audio")
        #expect(audio.volume == 100)
        let location: LocationStatus = try await service.json("location")
        #expect(location.distanceFilter == 0)

        let pause = try await service.command(["audio", "pause", "--format", "json"])
        #expect(pause.exitCode == 0)
        #expect(try JSON.decode(AudioStatus.self, from: pause.output).timeControlStatus == .paused)
        pause.expectOneLine(["a restart will not know it", "the disk is full"])
        let stop = try await connection.send("PATCH", "/v1/location", body: #"{"updating":false}"#)
        #expect(stop.status == 200)
        let stopped = try JSON.decode(LocationStatus.self, from: Data(stop.body))
        #expect(!stopped.updating && stopped.health?.state == .failing)

        try rig.makeRoom()
        try await service.events().wait(forState: "a working disk") { $0.status.health?.state == .ok }
        #expect(try await connection.send("PATCH", "/v1/audio", body: #"{"volume":7}"#).status == 200)
        try await rig.end()
    }

    @Test func `a disk that refuses to sync is reported until it syncs`() async throws {
        let service = try Service(TestConfiguration())
        try await service.start()
        let pid = try #require(service.pid)
        let events = try service.events()
        try await events.wait(forState: "a stored point") { ($0.status.location?.stored ?? 0) > 0 }
        let strace = try ForegroundProcess(
            Programs.strace,
            [
                "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync", "-e", "inject=fdatasync,fsync:error=EIO",
                "-p", "\(pid)",
            ]
        )
        let state = try await events.wait(forState: "the fault") { $0.status.health?.state == .failing }
        #expect(state.status.health?.problems.map(\.kind) == [.ioError])
        strace.kill(SIGINT)
        try await strace.waitForEnd()
        try await service.events().wait(forState: "its end") { $0.status.health?.state == .ok }
        try await service.run("stop")
    }
}
