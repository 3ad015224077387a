import BackgrounderAPI
import Foundation
import LocationUpdates
import TestSupport
import Testing

/// The receiver of a real gpsd that is tracked, its addresses, and the reports without a receiver.
@Suite(.inRealTime) struct GPSDReceiverTests {
    @Test func `of two receivers on one gpsd only the one in the URL is tracked`() async throws {
        let (ports, terminals) = (try FreePorts(), [try PseudoTerminal(), try PseudoTerminal()])
        let feeds = [NMEAFeed(to: .terminal(terminals[0])), NMEAFeed(to: .terminal(terminals[1]), longitude: 12)]
        let gpsd = try ports.startGPSD(terminals.map(\.path))
        let rig = try await LocationRig("gpsd://127.0.0.1:\(ports.control)\(terminals[1].path)")
        let status = try await rig.wait(for: "30 points") { $0.accepted >= 30 && $0.quality == .ok }
        #expect(status.rejected[.device] == 0)
        try await rig.shutDown()
        feeds[1].verify(await rig.journal.points)
        withExtendedLifetime((gpsd, feeds[0])) {}
    }

    @Test func `one of two receivers is tracked, and the other takes over when it falls silent`() async throws {
        let (ports, terminals) = (try FreePorts(), [try PseudoTerminal(), try PseudoTerminal()])
        let feeds = [NMEAFeed(to: .terminal(terminals[0])), NMEAFeed(to: .terminal(terminals[1]), longitude: 12)]
        let gpsd = try ports.startGPSD(terminals.map(\.path))
        let rig = try await LocationRig("gpsd://127.0.0.1:\(ports.control)")
        let both = try await rig.wait(for: "both") { $0.accepted >= 30 && $0.rejected[.device] >= 30 }
        let first = try #require(feeds.firstIndex { both.lastFix.map($0.sent) == true })
        feeds[first].stop()
        try await rig.wait(for: "the other") { $0.lastFix.map(feeds[1 - first].sent) == true && $0.quality == .ok }
        try await rig.shutDown()
        let points = await rig.journal.points
        let change = try #require(points.firstIndex(where: feeds[1 - first].sent))
        feeds[first].verify(Array(points[..<change]))
        feeds[1 - first].verify(Array(points[change...]))
        withExtendedLifetime(gpsd) {}
    }

    @Test func `a receiver that gpsd does not have is reported in gpsd's words and is not a silence`() async throws {
        let ports = try FreePorts()
        let gpsd = try ports.startGPSD()
        let feed = NMEAFeed(to: .udp(ports.feed))
        let rig = try await LocationRig("gpsd://127.0.0.1:\(ports.control)/dev/nothing")
        let status = try await rig.wait(for: "refusal") { $0.quality == .noDevice }
        #expect(status.connection == .connected)
        #expect(status.qualityDetail == "gpsd reports: No such device as /dev/nothing")
        try await rig.shutDown()
        withExtendedLifetime((gpsd, feed)) {}
    }

    @Test func `an unplugged receiver is noticed within seconds, even if gpsd does not report it`() async throws {
        let (ports, terminal) = (try FreePorts(), try PseudoTerminal())
        let feed = NMEAFeed(to: .terminal(terminal))
        let gpsd = try ports.startGPSD([terminal.path])
        let rig = try await LocationRig("gpsd://127.0.0.1:\(ports.control)")
        try await rig.wait(for: "10 points") { $0.accepted >= 10 && $0.quality == .ok }
        feed.stop()
        terminal.unplug()
        let status = try await rig.wait(for: "another quality", within: 25) { $0.quality != .ok }
        #expect(status.connection == .connected)
        #expect(status.quality == .noDevice || status.quality == .silent)
        try await rig.shutDown()
        feed.verify(await rig.journal.points)
        withExtendedLifetime(gpsd) {}
    }

    @Test(arguments: ["localhost", "127.0.0.1", "[::1]"])
    func `gpsd is reached by name, by IPv4 address and by IPv6 address`(host: String) async throws {
        let ports = try FreePorts()
        let gpsd = try ports.startGPSD()
        let feed = NMEAFeed(to: .udp(ports.feed))
        let rig = try await LocationRig("gpsd://\(host):\(ports.control)")
        let status = try await rig.wait(for: "10 points") { $0.accepted >= 10 }
        #expect(status.source == "gpsd://\(host):\(ports.control)")
        try await rig.shutDown()
        feed.verify(await rig.journal.points)
        withExtendedLifetime(gpsd) {}
    }

    @Test func `a rest disconnects from a real gpsd, and its points continue afterwards`() async throws {
        let ports = try FreePorts()
        let pipe = try PipeEnds()
        let gpsd = try ForegroundProcess(
            "/usr/sbin/gpsd",
            ["-N", "-n", "-D", "3", "-S", "\(ports.control)", "udp://127.0.0.1:\(ports.feed)"],
            descriptors: [2: pipe.writeEnd]
        )
        close(pipe.writeEnd)
        let log = LineReader(pipe.readEnd)
        let feed = NMEAFeed(to: .udp(ports.feed))
        let settings = LocationSettings(desiredAccuracy: .kilometer)
        let rig = try await LocationRig(
            "gpsd://127.0.0.1:\(ports.control)",
            settings: settings,
            now: NMEAFeed.start,
            rest: { _ in .seconds(1) }
        )
        try await log.wait(for: "two clients that left", within: 60) { lines, _ in
            lines.count { $0.contains("detaching") } >= 2 ? true : nil
        }
        let status = try await rig.wait(for: "a third point") { $0.accepted >= 3 }
        #expect(status.quality == .ok)
        try await rig.shutDown()
        feed.verify(await rig.journal.points)
        // gpsd may start later than the manager.
        let lines = rig.log.lines.filter { line in
            !["is ok", "is disconnected", "is searching"].contains { line.contains($0) }
        }
        #expect(lines.count == 1, "\(rig.log.lines)")
        #expect(lines.first?.contains("rests for") == true, "\(rig.log.lines)")
        gpsd.kill()
    }

    @Test func `a stalled reader of a fast feed loses only dropped lines and gets no false points`() async throws {
        let ports = try FreePorts()
        let gpsd = try ports.startGPSD()
        let feed = NMEAFeed(to: .udp(ports.feed), rate: 2000)
        let journal = MemoryJournal()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(ports.control)", journal: journal)
        try await rig.wait(for: "100 points") { $0.accepted >= 100 }
        await journal.setStalled(true)
        let stalled = await rig.manager.status()
        await pause(seconds: 8)
        await journal.setStalled(false)
        let status = try await rig.wait(for: "1000 more points") {
            $0.accepted >= stalled.accepted + 1000 && $0.connection == .connected
        }
        #expect(status.received == status.accepted + status.rejected.total)
        feed.stop()
        try await rig.shutDown()
        feed.verify(await rig.journal.points)
        withExtendedLifetime(gpsd) {}
    }

    private func pause(seconds: Double) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { continuation.resume() }
        }
    }
}
