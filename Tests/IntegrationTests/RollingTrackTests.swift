import BackgrounderAPI
import TestSupport
import Testing

/// What holds of track and counters at every moment, also across restarts.
@Suite(.sharing) struct RollingTrackTests {
    @Test(
        "The window holds at most 100, ordered inside segments, and every fix is counted once",
        arguments: ["freeway-drive", "tunnel-gap", "bad-fixes"]
    )
    func window(name: String) async throws {
        let rate = name == "bad-fixes" ? 60 : 300
        let service = try Service(source: "gpx:\(Products.repository("tracks/\(name).gpx"))?rate=\(rate)")
        try await service.start()
        var counted = 0
        for round in 1...3 {
            let events = try service.events()
            // A crash in the midst of the run, one at its end, and a stop.
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
            #expect(after.received >= counted, "counters go on over a restart")
            #expect(after.received == after.accepted + after.rejected.total)
        }
        let location: LocationStatus = try await service.json("location")
        #expect(location.trackCount == min(100, location.accepted))
    }

    @Test("The window is the newest points in the order of acceptance, as the client saw them")
    func newest() async throws {
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
