import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// The service lives without the shell that started it, and with or without somebody who watches.
@Suite struct DetachedTests {
    @Test(
        "Started from a shell whose session is killed, tracking and playing go on; attach shows both, detach leaves both"
    )
    func outlivesItsShell() async throws {
        let service = try Service(
            source: "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=20",
            queue: [Products.repository("media")],
            autoplay: true
        )
        let (input, output) = (try PipeEnds(), try PipeEnds())
        defer { close(input.writeEnd) }
        let shell = try ForegroundProcess(
            "/usr/bin/setsid",
            ["/bin/sh", "-c", "\"$0\" start && exec cat", Products.backgrounder],
            environment: service.environment,
            descriptors: [0: input.readEnd, 1: output.writeEnd]
        )
        close(input.readEnd)
        close(output.writeEnd)
        try await LineReader(output.readEnd).wait(for: "start") { lines, _ in
            lines.first?.hasPrefix("started, pid ") == true ? true : nil
        }
        let pid = try #require(service.pid)
        #expect(getsid(shell.pid) == shell.pid && getsid(pid) == pid, "each has a session of its own")
        kill(-shell.pid, SIGKILL)
        try await shell.waitForEnd()

        let alone: ServiceStatus = try await service.json("status")
        #expect(alone.pid == pid && alone.state == .background && alone.attached == 0)
        try await Self.attach(to: service)
        let events = try service.events()
        try await events.wait(forState: "detachment") { $0.status.attached == 0 && $0.status.state == .background }
        let (points, times) = (events.received.count("location"), events.received.count("time"))
        try await events.wait(for: "more points and sound") { received in
            received.count("location") > points + 10 && received.count("time") > times + 1 ? true : nil
        }
        #expect(service.pid == pid)
    }

    /// Runs `attach` until it has shown a point and the time of an item, and ends it as Ctrl-C does.
    private static func attach(to service: Service) async throws {
        let output = try PipeEnds()
        let attach = try ForegroundProcess(
            Products.backgrounder,
            ["attach"],
            environment: service.environment,
            descriptors: [1: output.writeEnd]
        )
        close(output.writeEnd)
        let reader = LineReader(output.readEnd)
        try await reader.wait(for: "location and audio") { lines, _ in
            ["location  ", "audio     "].allSatisfy { word in lines.contains { $0.hasPrefix(word) } } ? true : nil
        }
        let status: ServiceStatus = try await service.json("status")
        #expect(status.state == .active && status.attached == 1)
        attach.kill(SIGINT)
        #expect(try await attach.waitForEnd() == 0)
    }
}
