import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// The way from a real gpsd to the history, compared with another client of gpsd and with the reference filter.
@Suite(.sharing, .inRealTime) struct GPSDPathTests {
    @Test(arguments: ["freeway-drive", "city-walk", "tunnel-gap", "bad-fixes"])
    func `the service accepts the same points from a real gpsd as the reference`(track: String) async throws {
        let receiver = try Receiver()
        let gpsd = try receiver.startGPSD()
        let service = try Service(source: receiver.source)
        try await service.start()
        let events = try service.events()
        try await events.wait(forState: "connection") { $0.status.location?.connection == .connected }
        let recording = try await receiver.record()

        let file = Products.repository("tracks/\(track).gpx")
        let epochs = try await receiver.feed(file, "--rate", "150", "--as-is").waitForEnd()
        let last = try #require(epochs.last)
        try await recording.wait(for: "the last epoch") { lines, _ in
            lines.reversed().contains { $0.isFix && $0.contains(last.time) } ? true : nil
        }
        // gpsd sends both clients the same lines; its end ends both streams.
        gpsd.kill(SIGTERM)
        let lines = try await recording.wait(for: "end of gpsd") { $1 ? $0 : nil }
        let fixes = lines.count(where: \.isFix)
        let status = try await events.wait(forState: "\(fixes) fixes") { $0.status.location?.received ?? 0 >= fixes }
        #expect(status.status.location?.received == fixes)

        let recorded = try service.scratch.write(lines.joined(separator: "\n") + "\n", to: "gpsd.jsonl")
        let reference = try await Reference.run("gpsd", recorded)
        #expect(reference.received == fixes)
        #expect(reference.accepted.count > epochs.count / 4, "gpsd passed on too little for a meaningful test")
        let history: [Location] = try await service.json("track", "history")
        // The history is ordered by time; points with equal times are in order of acceptance.
        let expected = reference.accepted.sorted {
            ($0.location.timestamp, $0.index) < ($1.location.timestamp, $1.index)
        }
        expectSame(history, expected.map(\.location))

        let location: LocationStatus = try await service.json("location")
        for reason in RejectionReason.allCases {
            let expected = reference.rejected.count { $0.reason == reason.rawValue }
            #expect(location.rejected[reason] == expected, "\(reason.rawValue)")
        }
    }

    @Test func `after gpsd is killed and restarted, the track resumes within 5 s without duplicates`() async throws {
        let receiver = try Receiver()
        let first = try receiver.startGPSD()
        let service = try Service(source: receiver.source)
        try await service.start()
        let events = try service.events()
        try await events.wait(forState: "connection") { $0.status.location?.connection == .connected }
        let feed = try receiver.feed(Products.repository("tracks/freeway-drive.gpx"), "--rate", "40", "--count", "600")
        try await events.wait(for: "100 points") { $0.count("location") >= 100 ? true : nil }

        first.kill()
        try await first.waitForEnd()
        try await events.wait(forState: "loss") { $0.status.location?.connection == .waiting }
        let before = events.received.count("location")
        let second = try receiver.startGPSD()
        let began = ContinuousClock.now
        try await events.wait(for: "the next point") { $0.count("location") > before ? true : nil }
        #expect(ContinuousClock.now - began < .seconds(5))
        try await events.wait(for: "100 more points") { $0.count("location") >= before + 100 ? true : nil }

        let epochs = Set(try await feed.waitForEnd())
        second.kill()
        try await events.wait(forState: "end of gpsd") { state in
            state.status.location?.connection == .waiting && state.status.location?.accepted ?? 0 >= before + 100
        }
        let history: [Location] = try await service.json("track", "history")
        let seen = try events.received.locations()
        #expect(Set(history.map(\.timestamp)).count == history.count, "a point is duplicated")
        #expect(history == seen, "the history differs from the points that the client saw")
        for point in history {
            let place = String(format: "%.8f %.8f", point.latitude, point.longitude)
            let epoch = Feed.Epoch(time: ISO8601.string(point.timestamp), place: place)
            #expect(epochs.contains(epoch), "the feed did not send \(point)")
        }
        let location: LocationStatus = try await service.json("location")
        #expect(location.received == location.accepted + location.rejected.total)
        #expect(location.accepted == history.count)
    }
}

extension String {
    fileprivate var isFix: Bool { hasPrefix("{\"class\":\"TPV\"") }
}
