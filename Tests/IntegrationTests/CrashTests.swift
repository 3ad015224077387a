import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// `kill -9` at random moments.
@Suite(.sharingLong) struct CrashTests {
    private static let rounds = 100

    @Test(.timeLimit(.minutes(15)))
    func `after 100 kills no point that a client or the log saw is missing or duplicated`() async throws {
        let scratch = try ScratchDirectory()
        let file = try scratch.write(await computing { Self.longTrack(points: 60_000) }, to: "long.gpx")
        let service = try Service(source: "gpx:\(file)?rate=500")
        var log = LogFile(path: service.paths.log)
        var points = 0
        var witnessed: Set<Date> = []
        for round in 1...Self.rounds {
            let launch = try ServiceLaunch(service)
            // Kill it during its start (about 0.2 s) in every fourth round, otherwise while it tracks.
            let diesEarly = round.isMultiple(of: 4)
            if diesEarly { launch.kill(after: .random(in: 0.02...0.3)) }
            var seen: [Location] = []
            if try await launch.isReady() {
                if !diesEarly { launch.kill(after: .random(in: 0...0.6)) }
                // Attach in every other round only: points are logged while no client is attached.
                let events = try service.events(attach: round.isMultiple(of: 2))
                try await launch.waitForEnd()
                let received = try await events.waitForEnd()
                let states = try received.states()
                for state in states { try expectInvariants(state) }
                seen = try received.locations() + states.flatMap(\.track)
            } else {
                try await launch.waitForEnd()
            }
            let told = Set(seen.map(\.timestamp) + log.newLines().compactMap(Self.loggedTime))
            let stored = try await StoredPoints(copiedFrom: service, since: told.min())
            #expect(stored.integrity == "ok")
            #expect(stored.count >= points, "round \(round): points are missing")
            #expect(stored.count == stored.distinct, "round \(round): a point is duplicated")
            let missing = told.subtracting(stored.newest)
            #expect(missing.isEmpty, "round \(round): these points are missing")
            points = stored.count
            witnessed.formUnion(told)
        }
        // The test is meaningful only if there was something to lose.
        #expect(points > Self.rounds * 10)
        #expect(witnessed.count > Self.rounds * 10)

        try await service.start()
        try await service.run("location", "stop")
        let location: LocationStatus = try await service.json("location")
        let history: [Location] = try await service.json("track", "history")
        // Each point of the file was received once; no restart skipped any.
        let accepted = (0..<location.received).filter { !Self.isVague($0) }
        #expect(location.accepted == accepted.count)
        #expect(location.rejected[.accuracy] == location.received - accepted.count)
        #expect(location.rejected.total == location.rejected[.accuracy])
        #expect(history.map(\.timestamp) == accepted.map(Self.time))
        // The whole drive is one trip, despite the crashes.
        let trips: [Trip] = try await service.json("track", "trips")
        #expect(trips.map(\.id) == [1])
        #expect(trips.first?.points == accepted.count)
        #expect(trips.first?.start == history.first?.timestamp)
        #expect(trips.first?.end == history.last?.timestamp)
    }

    @Test func `after a crash the queue, options and position are restored and playback continues`() async throws {
        let (service, before) = try await Self.interrupted(paused: false)
        try await service.start()
        let began = ContinuousClock.now
        let after: AudioStatus = try await service.json("audio")
        let queue: [PlayerItem] = try await service.json("queue")
        let since = (ContinuousClock.now - began) / .seconds(1)
        Self.expectSame(after, before.audio)
        #expect(queue.map(\.id) == before.queue.map(\.id))
        #expect(queue.map(\.path) == before.queue.map(\.path))
        #expect(after.timeControlStatus == .playing)
        let elapsed = try #require(after.elapsed)
        #expect(elapsed > before.elapsed - 1, "\(before.elapsed) to \(elapsed)")
        #expect(elapsed < before.elapsed + 1 + since, "\(before.elapsed) to \(elapsed)")
        let events = try service.events(observe: "50ms")
        try await events.wait(for: "more of the item") {
            try $0.times().contains { $0.elapsed > elapsed + 0.3 } ? true : nil
        }
    }

    @Test func `after a crash a paused item stays paused at its position`() async throws {
        let (service, before) = try await Self.interrupted(paused: true)
        try await service.start()
        let after: AudioStatus = try await service.json("audio")
        Self.expectSame(after, before.audio)
        #expect(after.timeControlStatus == .paused)
        #expect(abs(try #require(after.elapsed) - before.elapsed) < 1)
        let again: AudioStatus = try await service.json("audio")
        #expect(again.elapsed == after.elapsed)
        let queue: [PlayerItem] = try await service.json("queue")
        #expect(queue.map(\.id) == before.queue.map(\.id))
    }

    private struct Before {
        var audio: AudioStatus
        var queue: [PlayerItem]
        /// The last position that a client received.
        var elapsed: Double
    }

    /// Returns a service that was killed in the middle of its second item, with non-default options.
    private static func interrupted(paused: Bool) async throws -> (Service, Before) {
        let service = try Service(source: "gpx:\(Products.repository("tracks/city-walk.gpx"))")
        try await service.start()
        let names = ["harbour-chimes.mp3", "morning-tune.mp3", "welcome-announcement.wav"]
        try await service.run("queue", "add", Products.repository("media/\(names[0])"))
        for name in names.dropFirst() { try await service.run("queue", "add", Products.repository("media/\(name)")) }
        try await service.run("audio", "volume", "40")
        try await service.run("audio", "repeat", "on")
        try await service.run("audio", "consume", "off")
        try await service.run("audio", "single", "oneshot")
        let queue: [PlayerItem] = try await service.json("queue")
        try #require(queue.count == 3)
        try await service.run("audio", "play", "\(queue[1].id)")
        try await service.run("audio", "seek", "5")
        let events = try service.events(observe: "20ms")
        try await events.wait(for: "6 s of the item") { received in
            try received.times().contains { $0.itemID == queue[1].id && $0.elapsed > 6.2 } ? true : nil
        }
        if paused { try await service.run("audio", "pause") }
        let audio: AudioStatus = try await service.json("audio")
        try await service.crash()
        let last = try await events.waitForEnd().times().last { $0.itemID == queue[1].id }
        return (service, Before(audio: audio, queue: queue, elapsed: try #require(last?.elapsed)))
    }

    private static func expectSame(_ after: AudioStatus, _ before: AudioStatus) {
        #expect(after.currentItem?.id == before.currentItem?.id)
        #expect(after.currentItem?.position == 1)
        #expect(after.volume == 40)
        #expect(after.repeat)
        #expect(!after.consume)
        #expect(!after.random)
        #expect(after.single == .oneshot)
    }

    /// Returns the time of the point in a log line, if there is one.
    private static func loggedTime(_ line: String) -> Date? {
        guard line.contains(" New location is "), let mark = line.range(of: " @ ") else { return nil }
        return ISO8601.date(String(line[mark.upperBound...]))
    }

    /// Returns a drive north at about 10 m/s with unique times and places; every fifth point is too inaccurate to be
    /// accepted.
    private static func longTrack(points: Int) -> String {
        let body = (0..<points).map { number in
            let latitude = String(format: "%.7f", -30 + Double(number) * 0.0001)
            let dilution = isVague(number) ? "<hdop>9</hdop>" : ""
            let time = ISO8601.string(time(number))
            return "<trkpt lat=\"\(latitude)\" lon=\"11.5\"><time>\(time)</time>\(dilution)</trkpt>\n"
        }
        return "<gpx version=\"1.1\" creator=\"test\" xmlns=\"http://www.topografix.com/GPX/1/1\"><trk><trkseg>\n"
            + body.joined() + "</trkseg></trk></gpx>\n"
    }

    private static func isVague(_ number: Int) -> Bool { number % 5 == 4 }

    private static func time(_ number: Int) -> Date { Date(timeIntervalSince1970: 1_700_000_000 + Double(number)) }
}
