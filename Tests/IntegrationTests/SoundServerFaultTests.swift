import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// On every sound server fault, commands are answered, the fault is reported once, and the sound resumes where it was.
@Suite(.alone, .inRealTime) struct SoundServerFaultTests {
    enum Fault: String, CaseIterable, CustomTestStringConvertible {
        case stopped = "is stopped"
        case killed = "is killed"
        case sinkUnloaded = "loses its sink"
        case absent = "is not there at the start"

        var testDescription: String { rawValue }
    }

    @Test(arguments: Fault.allCases)
    func `a sound server fault is reported within 5 s, and sound resumes within 5 s of its repair`(_ fault: Fault)
        async throws
    {
        let server = try await SoundServer()
        if fault == .absent { try await server.crash() }
        let service = try Service(TestConfiguration(driver: "pulse", queue: [Samples.tunes[0]]))
        try await service.start(adding: server.environment)
        let events = try service.events(observe: "100ms")
        _ = try await service.connection().send("PATCH", "/v1/audio", body: #"{"repeat":true}"#)
        let reply = try await service.connection().send("POST", "/v1/audio/play", body: "{}")
        try #require(reply.status == 200, "\(reply.text)")
        if fault != .absent { try await heard(1, since: 0, in: events) }

        try await bring(fault, on: server)
        let (lost, took) = try await time {
            try await events.wait(forState: "waiting") { $0.status.audio?.timeControlStatus == .waiting }
        }
        #expect(took < .seconds(5))
        let position = try #require(lost.status.audio?.elapsed)
        try await command(service)
        #expect(try await audio(service).timeControlStatus == .waiting)

        let seen = events.received.count("time")
        let states = events.received.count("state")
        try await repair(fault, on: server)
        let repaired = ContinuousClock.now
        let (_, silence) = try await time {
            try await events.wait(for: "sound") { received in
                let states = try received.states().dropFirst(states)
                return states.contains { $0.status.audio?.timeControlStatus == .playing } ? true : nil
            }
        }
        #expect(silence < .seconds(5))
        try await heard(position + 0.5, since: seen, in: events)
        let heardAfter = ContinuousClock.now - repaired
        #expect(heardAfter < .seconds(5), "too late, even for a null sink, which takes its first block after 2 s")
        let first = try #require(try events.received.times().dropFirst(seen).first { $0.elapsed > position })
        #expect(first.elapsed < position + 1, "from \(position) to \(first.elapsed)")
        let lines = service.logLines().filter { $0.contains("The output stalled") }
        #expect(lines.count == 1, "\(lines)")

        try await bring(fault, on: server)
        let pid = try #require(service.pid)
        let (_, end) = await time {
            kill(pid, SIGTERM)
            await ended(service)
        }
        #expect(end < .seconds(2))
        print(
            """
            sound server \(fault.rawValue): waiting after \(took), playing after \(silence), 0.5 s heard after \(heardAfter), \
            end after \(end)
            """
        )
    }

    /// Returns when the process is gone, as the kernel then releases its lock.
    private func ended(_ service: Service) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let descriptor = open(service.paths.lock, O_RDONLY | O_CLOEXEC)
                while flock(descriptor, LOCK_SH) != 0, errno == EINTR {}
                close(descriptor)
                continuation.resume()
            }
        }
    }

    private func bring(_ fault: Fault, on server: SoundServer) async throws {
        switch fault {
        case .stopped: server.send(SIGSTOP)
        case .killed, .absent: try await server.crash()
        case .sinkUnloaded: try await server.unloadSink()
        }
    }

    private func repair(_ fault: Fault, on server: SoundServer) async throws {
        switch fault {
        case .stopped: server.send(SIGCONT)
        case .killed, .absent: try await server.restart()
        case .sinkUnloaded: try await server.loadSink()
        }
    }

    /// Sends commands that do not change the position, and checks the duration of each.
    private func command(_ service: Service) async throws {
        let connection = try service.connection()
        var times: [Duration] = []
        let commands: [(String, String, String?)] = [
            ("GET", "/v1/status", nil), ("GET", "/v1/audio", nil), ("PATCH", "/v1/audio", #"{"volume":90}"#),
            ("GET", "/v1/audio/drivers", nil), ("GET", "/v1/queue", nil), ("POST", "/v1/queue/shuffle", nil),
            ("GET", "/v1/track", nil), ("PATCH", "/v1/audio", #"{"volume":100}"#), ("GET", "/v1/audio", nil),
        ]
        for (method, path, body) in commands {
            let (reply, took) = try await time { try await connection.send(method, path, body: body) }
            #expect(reply.status == 200, "\(method) \(path): \(reply.text)")
            // A command that waits for the sound server never returns; a busy machine only delays some.
            #expect(took < .seconds(1), "\(method) \(path)")
            times.append(took)
        }
        #expect(times.sorted()[times.count * 3 / 4] < .milliseconds(200), "\(times)")
    }

    private func audio(_ service: Service) async throws -> AudioStatus {
        try await service.get("/v1/audio", on: service.connection())
    }

    private func heard(_ seconds: Double, since seen: Int, in events: ServiceEvents) async throws {
        try await events.wait(for: "\(seconds) s of sound") { received in
            try received.times().dropFirst(seen).contains { $0.elapsed >= seconds } ? true : nil
        }
    }
}
