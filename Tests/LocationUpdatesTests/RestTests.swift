import BackgrounderAPI
import Foundation
import LocationUpdates
import TestSupport
import Testing

/// The coarse levels leave gpsd after each point.
@Suite struct RestTests {
    private let coarse = LocationSettings(desiredAccuracy: .kilometer)

    @Test("The levels rest as long as the specification says")
    func table() {
        let rests = DesiredAccuracy.allCases.map(\.rest)
        #expect(rests == [nil, nil, nil, nil, .seconds(120), .seconds(300)])
    }

    @Test("After a delivered fix gpsd is left for the rest, and then tracked again; the log says it once")
    func rest() async throws {
        let server = try FakeGPSD()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(server.port)", settings: coarse, rest: { _ in .seconds(3) })
        for round in 0..<3 {
            let client = try await server.client()
            let arrived = ContinuousClock.now
            client.send(line: tpv(at: round * 100, mode: 1))
            client.send(line: tpv(at: round * 100))
            let status = try await rig.wait(for: "rest") { $0.accepted == round + 1 && $0.connection == .waiting }
            #expect(status.quality == .ok && status.rejected[.noFix] == round + 1)
            #expect(
                status.qualityDetail
                    == "disconnected from gpsd until 22:13:23Z; gpsd closes the receiver 61 s after its last client unless it runs with -n"
            )
            #expect(await client.nextRequest().isEmpty, "gpsd sees that its client is gone")
            if round < 2 {
                try await rig.wait(for: "return") { $0.connection == .connected && $0.qualityDetail == nil }
                #expect(ContinuousClock.now - arrived > .seconds(2.9))
            }
        }
        #expect(await rig.journal.points.map(\.segmentStart) == [true, true, true])
        #expect(rig.log.lines.count { $0.contains("disconnected from gpsd until") } == 1)
        #expect(rig.log.lines.count == 2, "and that it is ok: \(rig.log.lines)")
        try await rig.shutDown()
    }

    /// What ends a rest that would last for an hour, and what does not.
    enum Change: CaseIterable, Sendable {
        case level, stop, source, suspension, shorter
    }

    @Test("A rest ends at once when nothing asks for it any more", arguments: Change.allCases)
    func ending(change: Change) async throws {
        let server = try FakeGPSD()
        let other = try FakeGPSD()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(server.port)", settings: coarse) {
            switch $0 {
            case .threeKilometers: .seconds(0.01)
            case .kilometer: .seconds(3600)
            default: nil
            }
        }
        let first = try await server.client()
        first.send(line: tpv(at: 0))
        try await rig.wait(for: "rest") { $0.accepted == 1 && $0.connection == .waiting }
        await rig.manager.apply(LocationSettings(desiredAccuracy: .kilometer, distanceFilter: 5))
        #expect(await rig.manager.status().qualityDetail?.hasPrefix("disconnected from gpsd until 23:13:20Z") == true)
        #expect(!server.hasClient, "a setting that keeps the level keeps the rest")
        switch change {
        case .level: await rig.manager.apply(LocationSettings(desiredAccuracy: .hundredMeters))
        case .shorter: await rig.manager.apply(LocationSettings(desiredAccuracy: .threeKilometers))
        case .stop:
            await rig.manager.stopUpdatingLocation()
            await rig.manager.startUpdatingLocation()
        case .suspension:
            await rig.manager.suspend()
            await rig.manager.resume()
        case .source:
            let address = "gpsd://127.0.0.1:\(other.port)"
            await rig.manager.setSource(try LocationSource(address, relativeTo: "/"))
        }
        let client = try await (change == .source ? other : server).client()
        try await rig.wait(for: "return") { $0.connection == .connected && $0.qualityDetail == nil }
        client.send(line: tpv(at: 100, metres: 50))
        try await rig.wait(for: "a second point") { $0.accepted == 2 }
        try await rig.shutDown()
        first.hangUp()
    }

    @Test("A rest is not restored by a restart: the service begins with reading")
    func restart() async throws {
        let server = try FakeGPSD()
        var rig = try await LocationRig("gpsd://127.0.0.1:\(server.port)", settings: coarse)
        let first = try await server.client()
        first.send(line: tpv(at: 0))
        try await rig.wait(for: "rest") { $0.accepted == 1 && $0.connection == .waiting }
        let journal = await rig.journal.copy()
        try await rig.shutDown()
        rig = try await LocationRig("gpsd://127.0.0.1:\(server.port)", settings: coarse, journal: journal)
        let second = try await server.client()
        second.send(line: tpv(at: 100))
        try await rig.wait(for: "a second point") { $0.accepted == 2 }
        try await rig.shutDown()
        first.hangUp()
        second.hangUp()
    }

    @Test("A gpsd that is away when the rest ends is looked for as ever")
    func absence() async throws {
        var server = try FakeGPSD()
        let port = server.port
        let rig = try await LocationRig("gpsd://127.0.0.1:\(port)", settings: coarse, rest: { _ in .seconds(0.3) })
        let client = try await server.client()
        server.stopListening()
        client.send(line: tpv(at: 0))
        try await rig.wait(for: "loss") { $0.quality == .disconnected }
        server = try FakeGPSD(port: port)
        let again = try await server.client()
        again.send(line: tpv(at: 100))
        try await rig.wait(for: "a second point") { $0.accepted == 2 }
        try await rig.shutDown()
        client.hangUp()
        again.hangUp()
    }
}
