import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// Tests with the installed gpsd, which receives NMEA over UDP.
@Suite(.inRealTime) struct RealGPSDTests {
    @Test func `each fix of a real gpsd becomes one point at the place of the receiver`() async throws {
        let ports = try FreePorts()
        let gpsd = try ports.startGPSD()
        let feed = NMEAFeed(to: .udp(ports.feed))
        let rig = try await LocationRig("gpsd://127.0.0.1:\(ports.control)")
        let status = try await rig.wait(for: "40 points") { $0.accepted >= 40 && $0.quality == .ok }
        feed.stop()
        try await rig.shutDown()
        feed.verify(await rig.journal.points)
        #expect(status.received == status.accepted + status.rejected.total)
        #expect(status.lastFix?.accuracySource == .model)
        #expect(status.lastFix?.mode == 3)
        #expect(abs((status.lastFix?.horizontalAccuracy ?? 0) - 19 / 1.731) < 0.01)
        withExtendedLifetime(gpsd) {}
    }

    @Test func `tracking continues after gpsd is killed and restarted, without repeated points`() async throws {
        let ports = try FreePorts()
        let gpsd = try ports.startGPSD()
        let feed = NMEAFeed(to: .udp(ports.feed))
        let rig = try await LocationRig("gpsd://127.0.0.1:\(ports.control)")
        try await rig.wait(for: "20 points") { $0.accepted >= 20 }
        gpsd.end()
        let lost = try await rig.wait(for: "loss", within: 30) { $0.quality == .disconnected }
        let again = try ports.startGPSD()
        let began = ContinuousClock.now
        let back = try await rig.wait(for: "20 more points") { $0.accepted >= lost.accepted + 20 && $0.quality == .ok }
        #expect(ContinuousClock.now - began < .seconds(20))
        feed.stop()
        try await rig.shutDown()
        feed.verify(await rig.journal.points)
        #expect(back.received == back.accepted + back.rejected.total)
        withExtendedLifetime(again) {}
    }

    @Test func `a stopped gpsd counts as silent, and tracking continues when it resumes`() async throws {
        let ports = try FreePorts()
        let gpsd = try ports.startGPSD()
        let feed = NMEAFeed(to: .udp(ports.feed))
        let rig = try await LocationRig("gpsd://127.0.0.1:\(ports.control)")
        try await rig.wait(for: "10 points") { $0.accepted >= 10 && $0.quality == .ok }
        gpsd.send(SIGSTOP)
        let silent = try await rig.wait(for: "silence", within: 30) { $0.quality == .silent }
        #expect(silent.connection == .connected)
        gpsd.send(SIGCONT)
        try await rig.wait(for: "10 more points") { $0.accepted >= silent.accepted + 10 && $0.quality == .ok }
        feed.stop()
        try await rig.shutDown()
        feed.verify(await rig.journal.points)
    }
}
