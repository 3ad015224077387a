import BackgrounderAPI
import Foundation
import LocationUpdates
import TestSupport
import Testing

/// The coarse accuracy levels disconnect from gpsd after each point.
@Suite struct RestTests {
    private let coarse = LocationSettings(desiredAccuracy: .kilometer)

    @Test func `each level rests for its specified time`() {
        let rests = DesiredAccuracy.allCases.map(\.rest)
        #expect(rests == [nil, nil, nil, nil, .seconds(120), .seconds(300)])
    }

    @Test func `after a delivered fix gpsd is left for the rest and then tracked again, logged once`() async throws {
        let server = try FakeGPSD()
        let rig = try await LocationRig("gpsd://127.0.0.1:\(server.port)", settings: coarse, rest: { _ in .seconds(3) })
        for round in 0..<3 {
            let client = try await server.client()
            let arrived = ContinuousClock.now
            client.send(line: tpv(at: round * 100, mode: 1))
            client.send(line: tpv(at: round * 100))
            let status = try await rig.wait(for: "rest") { $0.accepted == round + 1 && $0.connection == .waiting }
            #expect(status.quality == .ok)
            #expect(status.rejected[.noFix] == round + 1)
            #expect(
                status.qualityDetail
                    == "disconnected from gpsd until 22:13:23Z; gpsd closes the receiver 61 s after its last client unless it runs with -n"
            )
            #expect(await client.nextRequest().isEmpty, "gpsd sees that its client disconnected")
            if round < 2 {
                try await rig.wait(for: "return") { $0.connection == .connected && $0.qualityDetail == nil }
                #expect(ContinuousClock.now - arrived > .seconds(2.9))
            }
        }
        #expect(await rig.journal.points.map(\.segmentStart) == [true, true, true])
        #expect(rig.log.lines.count { $0.contains("disconnected from gpsd until") } == 1)
        #expect(rig.log.lines.count == 2, "one line for the rest and one for the good quality: \(rig.log.lines)")
        try await rig.shutDown()
    }

    /// The changes that end a rest of an hour.
    enum Change: CaseIterable, Sendable {
        case level, stop, source, suspension, shorter
    }

    @Test(arguments: Change.allCases)
    func `a change of level, source or tracking ends a rest immediately`(change: Change) async throws {
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

    @Test func `a restart does not restore a rest: the service begins with reading`() async throws {
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

    @Test func `a gpsd that is gone when the rest ends is retried until it returns`() async throws {
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
