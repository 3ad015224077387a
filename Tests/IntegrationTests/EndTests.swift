import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// The service ends in time on every request to end.
@Suite(.alone, .inRealTime) struct EndTests {
    @Test(arguments: [0, SIGTERM, SIGINT])
    func `stop, SIGTERM and SIGINT end the service within 2 s while it tracks, plays and is watched`(signal: Int32)
        async throws
    {
        let service = try Service(TestConfiguration(queue: [Products.repository("media")], autoplay: true))
        let (process, errors) = try service.foreground()
        let log = service.paths.log
        // In the foreground without a terminal it logs to its file; it is ready once the socket exists.
        try await FileWatch(log).wait(for: "Ready on")
        let idle = try StreamSocket(service.paths.controlSocket)
        try await idle.send("GET /v1/sta")
        let events = try service.events(attach: true)
        try await events.wait(forState: "playing") { $0.status.audio?.timeControlStatus == .playing }
        let (code, took) = try await time {
            if signal == 0 { try await service.run("stop") } else { process.kill(signal) }
            return try await process.waitForEnd()
        }
        #expect(code == 0)
        #expect(took < .seconds(2))
        _ = try await events.waitForEnd()
        #expect(!FileManager.default.fileExists(atPath: service.paths.controlSocket))
        let lines = try await errors.wait(for: "end") { $1 ? $0 : nil }
        #expect(lines.isEmpty, "\(lines)")
        #expect(service.logLines().last?.hasSuffix("Stopped") == true, "\(service.logLines().suffix(3))")
    }

    @Test func `a stop right after the first events of a stream ends every part of the service`() async throws {
        let service = try Service(TestConfiguration())
        for _ in 0..<20 {
            try await service.start()
            let events = try service.events(attach: true)
            try await events.wait(for: "state") { $0.count("state") > 0 ? true : nil }
            try await service.run("stop")
            _ = try await events.waitForEnd()
            let lines = service.logLines()
            try #require(lines.last?.hasSuffix("Stopped") == true, "\(lines.suffix(3))")
        }
    }

    @Test func `a stop ends an import that finds no points`() async throws {
        let service = try Service(TestConfiguration())
        let waypoints = String(repeating: "<wpt lat='1' lon='1'/>", count: 4_000_000)
        let file = try service.scratch.write("<gpx>\(waypoints)</gpx>", to: "waypoints.gpx")
        try await service.start()
        let connection = try service.connection()
        let body = String(decoding: try JSON.encode(ImportRequest(path: file)), as: UTF8.self)
        try await connection.begin("POST", Routes.importTrack.path, body: body)
        _ = try await connection.head()
        try await service.run("stop")
        let lines = service.logLines()
        #expect(lines.last?.hasSuffix("Stopped") == true, "\(lines.suffix(3))")
    }

    @Test func `stop takes less than 2 s during a flood of points and interrupts it`() async throws {
        let scratch = try ScratchDirectory()
        let points = (0..<200_000).map { number in
            let time = ISO8601.string(Date(timeIntervalSince1970: 1_795_000_000 + Double(number)))
            return "<trkpt lat=\"\(40 + Double(number) / 10_000)\" lon=\"11.5\"><time>\(time)</time></trkpt>\n"
        }
        let track = try scratch.write("<gpx><trk><trkseg>\(points.joined())</trkseg></trk></gpx>", to: "flood.gpx")
        let service = try Service(TestConfiguration(source: "gpx:\(track)?rate=max"))
        try await service.start()
        let (_, took) = try await time { try await service.run("stop") }
        #expect(took < .seconds(2))
        try await service.start()
        let status: LocationStatus = try await service.json("location")
        #expect(status.received < 200_000)
        #expect(status.received == status.accepted + status.rejected.total)
    }

    @Test func `a second SIGTERM ends the service immediately, even when its shutdown hangs`() async throws {
        let server = try await SoundServer()
        let service = try Service(TestConfiguration(driver: "pulse", queue: [Samples.tunes[0]], autoplay: true))
        try await service.start(adding: server.environment)
        let events = try service.events(observe: "100ms")
        try await events.wait(for: "sound") { try $0.times().contains { $0.elapsed > 0.5 } ? true : nil }
        // The stopped server delays closing the device for longer than the test allows.
        server.send(SIGSTOP)
        let pid = try #require(service.pid)
        kill(pid, SIGTERM)
        let log = try LogFollower(service)
        try await log.wait(for: "Stopping")
        let (_, took) = try await time {
            kill(pid, SIGTERM)
            _ = try await events.waitForEnd()
        }
        #expect(took < .milliseconds(1500))
    }
}
