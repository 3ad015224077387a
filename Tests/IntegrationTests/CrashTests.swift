import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// `kill -9` at random moments.
@Suite struct CrashTests {
    private static let rounds = 100

    @Test(
        "Killed 100 times: no point that a client or the log saw is missing, none is there twice",
        .timeLimit(.minutes(5))
    )
    func killed() async throws {
        let scratch = try ScratchDirectory()
        let file = try scratch.write(Self.longTrack(points: 60_000), to: "long.gpx")
        let service = try Service(source: "gpx:\(file)?rate=500")
        var random = SystemRandomNumberGenerator()
        var log = LogFile(path: service.paths.log)
        var points = 0
        var witnessed: Set<Date> = []
        var killedBeforeReady = 0
        for round in 1...Self.rounds {
            let launch = try ServiceLaunch(service)
            // From before the store is open until well after the start, which takes about 0.2 s.
            launch.kill(after: .random(in: 0.02...0.7, using: &random))
            var seen: [Location] = []
            if try await launch.isReady() {
                // Every other client is attached, so that the log of the other rounds has points as well.
                let events = try service.events(attach: round.isMultiple(of: 2))
                try await launch.waitForEnd()
                let received = try await events.waitForEnd()
                let states = try received.states()
                for state in states { try expectInvariants(state) }
                seen = try received.locations() + states.flatMap(\.track)
            } else {
                try await launch.waitForEnd()
                killedBeforeReady += 1
            }
            let told = Set(seen.map(\.timestamp) + log.newLines().compactMap(Self.loggedTime))
            let stored = try await StoredPoints(copiedFrom: service, since: told.min())
            #expect(stored.integrity == "ok")
            #expect(stored.count >= points, "round \(round): points are gone")
            #expect(stored.count == stored.distinct, "round \(round): a point is there twice")
            let missing = told.subtracting(stored.newest)
            #expect(missing.isEmpty, "round \(round): these are missing")
            points = stored.count
            witnessed.formUnion(told)
        }
        // The test has shown something only if there was something to lose.
        #expect(points > Self.rounds * 10 && witnessed.count > Self.rounds * 10 && killedBeforeReady < Self.rounds / 2)

        try await service.start()
        try await service.run("location", "stop")
        let location: LocationStatus = try await service.json("location")
        let history: [Location] = try await service.json("track", "history")
        // Each point of the file was received once, and none was passed over at any of the restarts.
        let accepted = (0..<location.received).filter { !Self.isVague($0) }
        #expect(location.accepted == accepted.count)
        #expect(location.rejected[.accuracy] == location.received - accepted.count)
        #expect(location.rejected.total == location.rejected[.accuracy])
        #expect(history.map(\.timestamp) == accepted.map(Self.time))
    }

    @Test("Queue, options, current item and position come back, and what was playing goes on")
    func playing() async throws {
        let (service, before) = try await Self.interrupted(paused: false)
        try await service.start()
        let began = ContinuousClock.now
        let after: AudioStatus = try await service.json("audio")
        let queue: [PlayerItem] = try await service.json("queue")
        let since = (ContinuousClock.now - began) / .seconds(1)
        Self.expectSame(after, before.audio)
        #expect(queue.map(\.id) == before.queue.map(\.id) && queue.map(\.path) == before.queue.map(\.path))
        #expect(after.timeControlStatus == .playing)
        let elapsed = try #require(after.elapsed)
        #expect(elapsed > before.elapsed - 1 && elapsed < before.elapsed + 1 + since, "\(before.elapsed) to \(elapsed)")
        let events = try service.events(observe: "50ms")
        try await events.wait(for: "more of the item") {
            try $0.times().contains { $0.elapsed > elapsed + 0.3 } ? true : nil
        }
    }

    @Test("What was paused stays paused where it was")
    func paused() async throws {
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
        /// What a client heard of last.
        var elapsed: Double
    }

    /// A service that was killed in the middle of its second item, with options that are not the defaults.
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
        #expect(after.currentItem?.id == before.currentItem?.id && after.currentItem?.position == 1)
        #expect(after.volume == 40 && after.repeat && !after.consume && !after.random && after.single == .oneshot)
    }

    /// The time of a point that the log tells of.
    private static func loggedTime(_ line: String) -> Date? {
        guard line.contains(" New location is "), let mark = line.range(of: " @ ") else { return nil }
        return ISO8601.date(String(line[mark.upperBound...]))
    }

    /// A drive to the north, 10 m a second: no time and no place twice, and every fifth point too vague to be taken.
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

/// A service in the foreground, as a child of the test, which learns when it is ready as `backgrounder start` does.
private final class ServiceLaunch: Sendable {
    private let process: ForegroundProcess
    private let ready: LineReader

    init(_ service: Service) throws {
        let pipe = try PipeEnds()
        process = try ForegroundProcess(
            Products.backgrounderd,
            ["--home", service.home, "--ready-descriptor", "3"],
            environment: service.environment,
            descriptors: [3: pipe.writeEnd]
        )
        close(pipe.writeEnd)
        ready = LineReader(pipe.readEnd)
    }

    func kill(after seconds: Double) {
        let process = process
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { process.kill() }
    }

    /// Whether it got ready before it ended.
    func isReady() async throws -> Bool {
        try await ready.wait(for: "readiness or the end") { lines, isAtEnd in
            lines.isEmpty ? (isAtEnd ? false : nil) : true
        }
    }

    func waitForEnd() async throws {
        let code = try await process.waitForEnd()
        #expect(code == 128 + SIGKILL, "it ended by itself")
    }
}

/// What the database holds, read with SQLite's own shell in a copy, so that the service does its recovery itself.
private struct StoredPoints {
    var integrity = ""
    var count = 0
    var distinct = 0
    /// The times of the points from a time on.
    var newest: Set<Date> = []

    init(copiedFrom service: Service, since: Date?) async throws {
        let copy = try ScratchDirectory()
        let files = FileManager.default
        for suffix in ["", "-wal"] where files.fileExists(atPath: service.paths.database + suffix) {
            try files.copyItem(atPath: service.paths.database + suffix, toPath: copy.file("copy.sqlite" + suffix))
        }
        let first = since.map { Int64(($0.timeIntervalSince1970 * 1000).rounded()) } ?? .max
        let query = """
            PRAGMA integrity_check;
            SELECT count(*) FROM location; SELECT count(DISTINCT time) FROM location;
            SELECT time FROM location WHERE time >= \(first);
            """
        let run = try await ProgramRun.of(Tool.sqlite, [copy.file("copy.sqlite"), query])
        // Killed before its first transaction there is nothing to read yet.
        let isEmpty = run.errors.contains("no such table")
        try #require(run.exitCode == 0 || isEmpty, "\(run)")
        let lines = run.text.split(separator: "\n").map(String.init)
        integrity = lines.first ?? ""
        guard !isEmpty else { return }
        let numbers = lines.dropFirst().compactMap { Int64($0) }
        try #require(numbers.count >= 2, "\(run)")
        (count, distinct) = (Int(numbers[0]), Int(numbers[1]))
        newest = Set(numbers[2...].map { Date(timeIntervalSince1970: Double($0) / 1000) })
    }
}

/// A log that grows, read on from where the last reading ended; it must not reach the size at which it begins anew.
private struct LogFile {
    let path: String
    private var offset = 0

    init(path: String) {
        self.path = path
    }

    mutating func newLines() -> [String] {
        let content = FileManager.default.contents(atPath: path) ?? Data()
        defer { offset = content.count }
        return String(decoding: content.dropFirst(offset), as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
