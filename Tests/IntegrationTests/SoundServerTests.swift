import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// The service before a real sound server: one that works, one that stops, and one that dies.
@Suite(.alone) struct SoundServerTests {
    let server: SoundServer
    let service: Service

    init() async throws {
        server = try await SoundServer()
        service = try Service(TestConfiguration(driver: "pulse", queue: [Samples.tunes[0]]))
        try await service.start(adding: server.environment)
    }

    /// Begins to play, over and over, and returns when something was heard.
    private func play(_ connection: HTTPConnection, _ events: ServiceEvents) async throws {
        _ = try await connection.send("PATCH", "/v1/audio", body: #"{"repeat":true}"#)
        let reply = try await connection.send("POST", "/v1/audio/play", body: "{}")
        try #require(reply.status == 200, "\(reply.text)")
        try await heard(1, in: events)
    }

    /// Waits for a time event at or after `seconds` among those that come from now on.
    private func heard(_ seconds: Double, in events: ServiceEvents) async throws {
        let before = events.received.count("time")
        try await events.wait(for: "\(seconds) s of sound") { received in
            try received.times().dropFirst(before).contains { $0.elapsed >= seconds } ? true : nil
        }
    }

    @Test("Sound keeps real time and has no gap while both cores are busy, and what arrives is what is in the file")
    func pace() async throws {
        let recording = service.file("recording.raw")
        let recorder = try await server.record(to: recording)
        let load = try (0..<2).map { _ in try ForegroundProcess(Programs.shell, ["-c", "while :; do :; done"]) }
        let events = try service.events(observe: "100ms")
        _ = try await service.connection().send("POST", "/v1/audio/play", body: "{}")
        // A null sink takes its first block late; the pace counts from there.
        try await heard(1, in: events)
        let first = try await reading()
        try await heard(11, in: events)
        let second = try await reading()
        let (sound, took) = (second.elapsed - first.elapsed, (second.time - first.time) / .seconds(1))
        #expect(abs(sound / took - 1) < 0.02, "\(sound) s of sound in \(took) s")
        try await events.wait(for: "end of the queue") { $0.payloads("currentItem").last == "{}" ? true : nil }
        for process in load { process.kill() }
        let end = try await audio()
        #expect(end.timeControlStatus == .stopped && end.underruns == 0 && end.interruptions == 0)
        #expect(end.driver == "pulse" && end.lastError == nil)

        recorder.kill()
        try await recorder.waitForEnd()
        let recorded = try Data(contentsOf: URL(fileURLWithPath: recording))
        let source = try await Samples.reference(Samples.tunes[0])
        // From the second second on to the last half: the monitor does not see what the sink had begun before.
        let from = 44_100 * 4 * 2
        let part = source[from..<source.count - 44_100 * 2]
        let start = try #require(
            recorded.range(of: part.prefix(2_000))?.lowerBound,
            "the sound is not in the recording"
        )
        let correlation = Samples.correlation(of: Data(part), in: recorded, at: start)
        #expect(correlation > 0.99, "the recording is not the item, or has a gap: \(correlation)")
    }

    /// What is heard, and when. An answer that took longer does not tell when it was true, and is asked for again.
    private func reading() async throws -> (elapsed: Double, time: ContinuousClock.Instant) {
        for _ in 0..<50 {
            let asked = ContinuousClock.now
            let elapsed = try #require(try await audio().elapsed)
            let answered = ContinuousClock.now
            if answered - asked < .milliseconds(40) { return (elapsed, asked + (answered - asked) / 2) }
        }
        throw SystemCallFailure("an answer at once", ETIMEDOUT)
    }

    /// Asks on a connection of its own, since an idle one is not kept for long.
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

    /// Gives every command and holds each answer against the limit.
    private func command(_ connection: HTTPConnection) async throws {
        var times: [Duration] = []
        for (method, path, body) in Self.commands {
            let (reply, took) = try await time { try await connection.send(method, path, body: body) }
            #expect(reply.status == 200, "\(method) \(path): \(reply.text)")
            // What waits for the sound server waits for ever; a busy machine alone takes some of it now and then.
            #expect(took < .seconds(1), "\(method) \(path)")
            times.append(took)
        }
        #expect(times.sorted()[times.count * 3 / 4] < .milliseconds(200), "\(times)")
    }

    @Test("A stopped sound server holds no command up, and when it goes on so does the sound")
    func stopped() async throws {
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
        #expect(status.timeControlStatus == .playing && status.driver == "pulse")
    }

    @Test("A stopped sound server does not hold the end up", arguments: ["stop", "SIGTERM"])
    func end(way: String) async throws {
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

    @Test("A killed sound server is waited for, and the sound goes on where it was")
    func killed() async throws {
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
        // Whoever reads late sees later times, too; the first one is where it went on.
        #expect(times.allSatisfy { $0.elapsed > position - 1 } && times.first?.elapsed ?? .infinity < position + 2)
        let back = try await audio()
        #expect(back.timeControlStatus == .playing && back.driver == "pulse" && back.interruptions >= 1)
        try await server.crash()
        try await events.wait(forState: "waiting again") {
            $0.status.audio?.timeControlStatus == .waiting && $0.status.audio?.interruptions ?? 0 > back.interruptions
        }
        try await command(service.connection())
    }
}
