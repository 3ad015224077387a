import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// A service outlives the shell, session and terminal that started it, and attach and detach do not disturb it.
@Suite(.sharing) struct SessionTests {
    /// How the shell that started the service ends.
    enum End: String, CaseIterable, CustomTestStringConvertible {
        case exit = "exits"
        case killed = "is killed with its session"
        case hangup = "loses its terminal"

        var testDescription: String { rawValue }
    }

    @Test(arguments: End.allCases)
    func `tracking and playing continue when the shell that started the service ends`(end: End) async throws {
        let service = try Service(
            TestConfiguration(
                source: "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=10",
                queue: [Products.repository("media")],
                autoplay: true
            )
        )
        try await start(service, end)
        let pid = try #require(service.pid, "the service is gone")
        #expect(getsid(pid) == pid, "the service does not lead its own session")

        let before: ServiceStatus = try await service.json("status")
        #expect(before.state == .background)
        #expect(before.attached == 0)
        let first = try await attach(service)
        #expect(first.contains { $0.hasPrefix("location  ") })
        #expect(first.contains { $0.hasPrefix("audio     ") })
        let after: ServiceStatus = try await service.json("status")
        #expect(after.state == .background)
        #expect(after.attached == 0)
        #expect(try #require(after.location).accepted > (try #require(before.location).accepted))
        try expectLater(after, before)

        // It continues unattended, as a reader that does not attach can see.
        let events = try service.events(observe: "100ms")
        try await events.wait(for: "unattended progress") { received in
            try received.count("location") >= 10 && received.times().last?.elapsed ?? 0 > 0
                && received.count("time") >= 10 ? true : nil
        }
        let last: ServiceStatus = try await service.json("status")
        #expect(last.pid == pid)
        #expect(last.state == .background)
        try expectLater(last, after)
    }

    /// Starts the service from a shell, and returns when the shell has ended.
    private func start(_ service: Service, _ end: End) async throws {
        let output = try PipeEnds()
        let command = "\(Products.backgrounder) start && echo over \(end == .exit ? "" : "&& exec sleep 1000")"
        let arguments =
            end == .hangup
            ? [Programs.script, "-qefc", command, "/dev/null"] : [Programs.shell, "-c", command]
        let shell = try ForegroundProcess(
            Programs.setsid,
            arguments,
            environment: service.environment,
            descriptors: [1: output.writeEnd]
        )
        close(output.writeEnd)
        let reader = LineReader(output.readEnd)
        try await reader.wait(for: "start") { lines, _ in lines.contains { $0.hasPrefix("over") } ? true : nil }
        switch end {
        case .exit: break
        case .killed: for pid in Self.members(ofSession: shell.pid) { kill(pid, SIGKILL) }
        // This closes the terminal's master, as a broken connection does.
        case .hangup: shell.kill()
        }
        try await shell.waitForEnd()
    }

    /// Attaches as a user does, and detaches with SIGINT once both modes were seen.
    ///
    /// - Returns: the printed lines.
    private func attach(_ service: Service) async throws -> [String] {
        let output = try PipeEnds()
        let attach = try ForegroundProcess(
            Products.backgrounder,
            ["attach"],
            environment: service.environment,
            descriptors: [1: output.writeEnd]
        )
        close(output.writeEnd)
        let reader = LineReader(output.readEnd)
        try await reader.wait(for: "both modes") { lines, _ in
            let names = ["location  ", "audio     "]
            return names.allSatisfy { name in lines.count { $0.hasPrefix(name) } >= 2 } ? true : nil
        }
        let status: ServiceStatus = try await service.json("status")
        #expect(status.state == .active)
        #expect(status.attached == 1)
        attach.kill(SIGINT)
        #expect(try await attach.waitForEnd() == 0)
        try await service.events().wait(until: .background, attached: 0)
        return reader.lines
    }

    private func expectLater(_ after: ServiceStatus, _ before: ServiceStatus) throws {
        let (new, old) = (try #require(after.audio), try #require(before.audio))
        #expect(new.timeControlStatus == .playing)
        #expect(old.timeControlStatus == .playing)
        let (item, earlier) = (try #require(new.currentItem), try #require(old.currentItem))
        #expect(item.position > earlier.position || new.elapsed ?? 0 > old.elapsed ?? 0)
    }

    private static func members(ofSession session: pid_t) -> [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { getsid($0) == session }
    }
}
