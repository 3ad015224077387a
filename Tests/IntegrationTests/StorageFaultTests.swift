import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// Disk faults under a service that tracks and plays are reported while they last, and no reply promises too much.
@Suite(.serialized) struct StorageFaultTests {
    @Test func `a full disk is reported everywhere within 2 s and cleared once there is room`() async throws {
        let rig = try await StorageRig()
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
        #expect(doctor.text.contains("FAIL storage"), "\(doctor)")
        #expect(doctor.text.contains("the disk is full"), "\(doctor)")
        #expect(try await service.run("status").text.contains("storage   cannot write"))
        #expect(
            service.logLines().contains {
                $0.contains(" error Storage: cannot write") && $0.contains("the disk is full")
            }
        )

        try rig.makeRoom()
        // A new reader, as the other one also has the good states before the fault.
        let well = try await service.events().wait(forState: "everything stored") {
            $0.status.health?.state == .ok && $0.status.location?.waiting == 0
        }
        #expect(well.status.location?.health == nil)
        #expect(well.status.location?.dropped == 0)
        try await rig.end()
        #expect(service.logLines().contains { $0.contains("Storage: the database can be written again") })
    }

    @Test func `on a full disk changes are refused, but pause works and warns that it is not stored`()
        async throws
    {
        let rig = try await StorageRig()
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
        pause.expectOneLine(["not stored, so a restart undoes it", "the disk is full"])
        let stop = try await connection.send("PATCH", "/v1/location", body: #"{"updating":false}"#)
        #expect(stop.status == 200)
        let stopped = try JSON.decode(LocationStatus.self, from: Data(stop.body))
        #expect(!stopped.updating)
        #expect(stopped.health?.state == .failing)

        try rig.makeRoom()
        try await service.events().wait(forState: "a working disk") { $0.status.health?.state == .ok }
        #expect(try await connection.send("PATCH", "/v1/audio", body: #"{"volume":7}"#).status == 200)
        try await rig.end()
    }

    @Test func `on a full disk no mode confirms a change that it cannot store`() async throws {
        let rig = try await StorageRig(
            TestConfiguration(
                modes: "[location, fetch, remote-notification]",
                source: "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=20",
                rest: ["transfers: {allowHTTP: [127.0.0.1]}"]
            )
        )
        let service = rig.service
        let (broker, server) = (try await Mosquitto(), try TestWebServer())
        let file = TestWebFile(size: 1 << 20, seed: 1) { $0.rate = 20_000 }
        for name in ["paused", "stopped", "cancelled"] { server.on("/\(name)", file.script) }
        server.reply(to: "/done", body: "hello")
        let folder = "\(service.home)/downloads/"
        try await service.run("transfer", "get", server.url("/done"), folder, "--session", "s", "--wait")
        for name in ["paused", "stopped", "cancelled"] {
            try await service.run("transfer", "get", server.url("/\(name)"), folder)
        }
        try await service.run("transfer", "pause", "2")
        try await service.run("task", "begin", "long", "--", "sleep", "1000")
        try await service.run("task", "begin", "hook", "--on", "detach", "--", "true")
        try await service.run("fetch", "add", "news", "--exec", "date +%N")
        try await service.run("fetch", "run", "news")
        try await service.run("push", "add", "all", "--mqtt", "mqtt://localhost:\(broker.port)", "--topic", "t")
        let log = try LogFollower(service)
        try await log.wait(for: "Push all: connected")

        try rig.fillDisk()
        try await service.events().wait(forState: "a failing disk") { $0.status.health?.state == .failing }
        let connection = try service.connection()
        let message = #"{"payload":"{\"content-available\":1,\"source\":\"news\",\"id\":\"1\"}"}"#
        let changes = [
            ("POST", "/v1/transfers", #"{"url":"\#(server.url("/new"))","destination":"\#(folder)"}"#),
            ("POST", "/v1/transfers/2/resume", "{}"),
            ("POST", "/v1/sessions/s/ack", #"{"seq":1}"#),
            ("DELETE", "/v1/task-hooks/hook", nil),
            ("PATCH", "/v1/fetch/news", #"{"interval":7200}"#),
            ("POST", "/v1/fetch/news/open", "{}"),
            ("POST", "/v1/fetch/news/clear", "{}"),
            ("DELETE", "/v1/fetch/news", nil),
            ("POST", "/v1/push", #"{"name":"b","url":"mqtt://localhost:\#(broker.port)","topic":"u"}"#),
            ("POST", "/v1/push/all/simulate", message),
            ("DELETE", "/v1/push/all", nil),
        ]
        for (method, path, body) in changes {
            let reply = try await connection.send(method, path, body: body)
            #expect(reply.status == 503, "\(method) \(path): \(reply.status) \(reply.text)")
            #expect(reply.text.contains("the disk is full"), "\(method) \(path): \(reply.text)")
        }
        let run = try await connection.send("POST", "/v1/fetch/news/run", body: "{}")
        #expect(run.text.contains(#""result":"failed""#), "\(run.text)")
        #expect(run.text.contains("the disk is full"), "\(run.text)")
        // The broker keeps a message that cannot be stored.
        try await broker.publish([#"{"content-available":1,"source":"news","id":"2","alert":"Kept"}"#])
        try await log.wait(for: "the broker keeps it")

        // These take effect although they are not stored.
        for (words, id, state) in [("pause", 3, TransferState.paused), ("cancel", 4, .waiting)] {
            let run = try await service.run("transfer", words, "\(id)", "--format", "json")
            let transfer = try JSON.decode(Transfer.self, from: run.output)
            #expect(transfer.state == state)
            let warning = "but a restart will lose this: the disk is full"
            #expect(transfer.error?.contains(warning) ?? false, "\(transfer)")
        }
        let ended = try await service.run("task", "end", "1")
        #expect(ended.text == "long is ended: the end is not stored, so it is lost at a restart\n")

        try rig.makeRoom()
        try await log.wait(for: "Alert: Kept")
        #expect(try await connection.send("POST", "/v1/transfers/2/resume", body: "{}").status == 200)
        try await rig.end()
    }

    @Test func `a disk that fails to sync is reported until it syncs again`() async throws {
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
