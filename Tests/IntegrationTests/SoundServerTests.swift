import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// The service with a real sound server that works, is stopped, or is killed.
@Suite(.alone, .inRealTime) struct SoundServerTests {
    let server: SoundServer
    let service: Service

    init() async throws {
        server = try await SoundServer()
        service = try Service(TestConfiguration(driver: "pulse", queue: [Samples.tunes[0]]))
        try await service.start(adding: server.environment)
    }

    /// Starts playing with repeat on, and returns after 1 s of sound.
    private func play(_ connection: HTTPConnection, _ events: ServiceEvents) async throws {
        _ = try await connection.send("PATCH", "/v1/audio", body: #"{"repeat":true}"#)
        let reply = try await connection.send("POST", "/v1/audio/play", body: "{}")
        try #require(reply.status == 200, "\(reply.text)")
        try await heard(1, in: events)
    }

    /// Waits for a new time event at or after `seconds`.
    private func heard(_ seconds: Double, in events: ServiceEvents) async throws {
        let before = events.received.count("time")
        try await events.wait(for: "\(seconds) s of sound") { received in
            try received.times().dropFirst(before).contains { $0.elapsed >= seconds } ? true : nil
        }
    }

    @Test func `sound keeps real time without gaps while both cores are busy`() async throws {
        let recording = service.file("recording.raw")
        let recorder = try await server.record(to: recording)
        let load = try (0..<2).map { _ in try ForegroundProcess(Programs.shell, ["-c", "while :; do :; done"]) }
        let events = try service.events(observe: "100ms")
        _ = try await service.connection().send("POST", "/v1/audio/play", body: "{}")
        // A null sink takes its first block late, so the pace is measured from there.
        try await heard(1, in: events)
        let first = try await reading()
        try await heard(11, in: events)
        let second = try await reading()
        let (sound, took) = (second.elapsed - first.elapsed, (second.time - first.time) / .seconds(1))
        #expect(abs(sound / took - 1) < 0.02, "\(sound) s of sound in \(took) s")
        try await events.wait(for: "end of the queue") { $0.payloads("currentItem").last == "{}" ? true : nil }
        for process in load { process.kill() }
        let end = try await audio()
        #expect(end.timeControlStatus == .stopped)
        #expect(end.underruns == 0)
        #expect(end.interruptions == 0)
        #expect(end.driver == "pulse")
        #expect(end.lastError == nil)

        recorder.kill()
        try await recorder.waitForEnd()
        let recorded = try Data(contentsOf: URL(fileURLWithPath: recording))
        let source = try await Samples.reference(Samples.tunes[0])
        // Skips the first 2 s, which the monitor may miss, and the last 0.5 s.
        let from = 44_100 * 4 * 2
        let part = source[from..<source.count - 44_100 * 2]
        let start = try #require(
            recorded.range(of: part.prefix(2_000))?.lowerBound,
            "the sound is not in the recording"
        )
        let correlation = Samples.correlation(of: Data(part), in: recorded, at: start)
        #expect(correlation > 0.99, "the recording is not the item, or has a gap: \(correlation)")
    }

    /// Returns the heard position and its time. Retries if the reply is too slow to tell the time of the position.
    private func reading() async throws -> (elapsed: Double, time: ContinuousClock.Instant) {
        for _ in 0..<50 {
            let asked = ContinuousClock.now
            let elapsed = try #require(try await audio().elapsed)
            let answered = ContinuousClock.now
            if answered - asked < .milliseconds(40) { return (elapsed, asked + (answered - asked) / 2) }
        }
        throw SystemCallFailure("a reply within 40 ms", ETIMEDOUT)
    }

    /// Uses a new connection, as the service soon closes idle ones.
    private func audio() async throws -> AudioStatus {
        try await service.get("/v1/audio", on: service.connection())
    }

    private static let commands: [(String, String, String?)] = [
        ("GET", "/v1/status", nil), ("GET", "/v1/audio", nil), ("POST", "/v1/audio/pause", "{}"),
        ("POST", "/v1/audio/play", "{}"), ("POST", "/v1/audio/toggle", "{}"), ("POST", "/v1/audio/toggle", "{}"),
        ("POST", "/v1/audio/seek", #"{"to":3}"#), ("POST", "/v1/audio/next", "{}"),
        ("POST", "/v1/audio/previous", "{}"), ("PATCH", "/v1/audio", #"{"volume":90}"#),
        ("GET", "/v1/audio/drivers", nil), ("GET", "/v1/queue", nil), ("POST", "/v1/queue/shuffle", "{}"),
        ("GET", "/v1/track", nil), ("PATCH", "/v1/location", #"{"distanceFilter":1}"#),
        ("POST", "/v1/audio/stop", "{}"), ("POST", "/v1/audio/play", "{}"),
    ]

    /// Sends every command and checks the duration of each.
    private func command(_ connection: HTTPConnection) async throws {
        var times: [Duration] = []
        for (method, path, body) in Self.commands {
            let (reply, took) = try await time { try await connection.send(method, path, body: body) }
            #expect(reply.status == 200, "\(method) \(path): \(reply.text)")
            // A command that waits for the sound server never returns; a busy machine only delays some.
            #expect(took < .seconds(1), "\(method) \(path)")
            times.append(took)
        }
        #expect(times.sorted()[times.count * 3 / 4] < .milliseconds(200), "\(times)")
    }

    @Test func `a stopped sound server delays no command, and sound continues when it does`() async throws {
        let connection = try service.connection()
        let events = try service.events(observe: "100ms")
        try await play(connection, events)
        server.send(SIGSTOP)
        try await command(connection)
        let (_, took) = try await time {
            try await events.wait(forState: "waiting") { $0.status.audio?.timeControlStatus == .waiting }
        }
        #expect(took < .seconds(5))
        try await command(connection)
        server.send(SIGCONT)
        try await heard(2, in: events)
        let status: AudioStatus = try await service.json("audio")
        #expect(status.timeControlStatus == .playing)
        #expect(status.driver == "pulse")
    }

    @Test(arguments: ["stop", "SIGTERM"])
    func `a stopped sound server does not delay shutdown`(way: String) async throws {
        let connection = try service.connection()
        let events = try service.events(observe: "100ms")
        try await play(connection, events)
        server.send(SIGSTOP)
        let pid = try #require(service.pid)
        let (_, took) = try await time {
            if way == "stop" { try await service.run("stop") } else { kill(pid, SIGTERM) }
            _ = try await events.waitForEnd()
        }
        #expect(took < .seconds(2))
        #expect(way != "stop" || service.pid == nil)
    }

    @Test func `after the sound server is killed and restarted, sound resumes where it was`() async throws {
        let connection = try service.connection()
        let events = try service.events(observe: "100ms")
        try await play(connection, events)
        let (lost, took) = try await time {
            try await server.crash()
            return try await events.wait(forState: "waiting") { $0.status.audio?.timeControlStatus == .waiting }
        }
        #expect(took < .seconds(5))
        let position = try #require(lost.status.audio?.elapsed)
        let before = events.received.count("time")
        try await server.restart()
        let times = try await events.wait(for: "the sound") { received in
            let times = try received.times().dropFirst(before)
            return times.contains { $0.elapsed > position + 0.5 } ? times : nil
        }
        // A late reader also sees later times; the first one is where the sound resumed.
        #expect(times.allSatisfy { $0.elapsed > position - 1 })
        #expect(try #require(times.first).elapsed < position + 2)
        let back = try await audio()
        #expect(back.timeControlStatus == .playing)
        #expect(back.driver == "pulse")
        #expect(back.interruptions >= 1)
        try await server.crash()
        try await events.wait(forState: "waiting again") {
            $0.status.audio?.timeControlStatus == .waiting && $0.status.audio?.interruptions ?? 0 > back.interruptions
        }
        try await command(service.connection())
    }
}
