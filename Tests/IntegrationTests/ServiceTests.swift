import BackgrounderAPI
import TestSupport
import Testing

/// The test fixture itself, and the life of a service.
@Suite(.sharing) struct ServiceTests {
    @Test func `a service starts, reports that it is running, tracks and stops`() async throws {
        let service = try Service(source: "gpx:\(Products.repository("tracks/city-walk.gpx"))?rate=50")
        let idle = try await service.command(["status"])
        #expect(idle.exitCode == 3, "\(idle)")
        let pid = try await service.start()
        #expect(service.pid == pid)
        #expect(try await service.run("start").text == "already running, pid \(pid)\n")
        let events = try service.events(attach: true)
        try await events.wait(for: "20 points") { $0.count("location") >= 20 ? true : nil }
        let status: ServiceStatus = try await service.json("status")
        #expect(status.pid == pid)
        #expect(status.state == .active)
        #expect(status.attached == 1)
        #expect(try await service.run("stop").text == "stopped, pid \(pid)\n")
        let rest = try await events.waitForEnd()
        #expect(rest.count("location") >= 20)
        #expect(service.pid == nil)
    }
}
