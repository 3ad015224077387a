import BackgrounderAPI
import SystemSupport
import TestSupport
import Testing

/// Invariants of the rolling track and the counters, also across restarts.
@Suite(.sharing) struct RollingTrackTests {
    @Test(arguments: ["freeway-drive", "tunnel-gap", "bad-fixes"])
    func `the rolling track holds at most 100 ordered points, and every fix is counted once`(name: String) async throws
    {
        let rate = name == "bad-fixes" ? 60 : 300
        let service = try Service(source: "gpx:\(Products.repository("tracks/\(name).gpx"))?rate=\(rate)")
        try await service.start()
        var counted = 0
        for round in 1...3 {
            let events = try service.events()
            // The rounds end with a crash in the middle of the run, a crash at its end, and a stop.
            let isHalfWay = round == 1
            let last = try await events.wait(forState: "round \(round)", within: 40) { state in
                let location = try #require(state.status.location)
                return isHalfWay
                    ? location.received >= 40 : location.connection == .finished && location.received > counted
            }
            for state in try events.received.states() { try expectInvariants(state) }
            counted = try #require(last.status.location?.received)
            let track: [Location] = try await service.json("track")
            #expect(track.count <= 100)
            expectOrder(track)
            if round < 3 { try await service.crash() } else { try await service.run("stop") }
            try await service.start()
            let after: LocationStatus = try await service.json("location")
            #expect(after.received >= counted, "the count of fixes fell at a restart")
            #expect(after.received == after.accepted + after.rejected.total)
        }
        let location: LocationStatus = try await service.json("location")
        #expect(location.trackCount == min(100, location.accepted))
    }

    @Test func `the rolling track is the newest points in the order of acceptance`() async throws {
        let service = try Service(source: "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=300")
        try await service.start()
        let events = try service.events()
        let first = try await events.wait(forState: "the first state") { _ in true }
        try await events.wait(forState: "the end", within: 40) { $0.status.location?.connection == .finished }
        let seen = first.track + (try events.received.locations())
        let track: [Location] = try await service.json("track")
        #expect(track.count == 100)
        #expect(track == seen.suffix(100))
        let three: [Location] = try await service.json("track", "--last", "3")
        #expect(three == track.suffix(3))
        let history: [Location] = try await service.json("track", "history")
        #expect(history.suffix(100) == track)
        let location: LocationStatus = try await service.json("location")
        #expect(history.count == location.accepted)
    }
}
