import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// Trips, import and export through the commands of the real service.
@Suite(.sharing) struct HistoryTests {
    /// Returns a running service whose only points are imported ones.
    private func makeIdle() async throws -> Service {
        let service = try Service(TestConfiguration(source: "gpsd://127.0.0.1:1"))
        try await service.start()
        return service
    }

    private func importing(_ service: Service, _ arguments: String...) async throws -> ImportProgress {
        let run = try await service.command(["track", "import"] + arguments + ["--format", "json"])
        try #require(run.exitCode == 0, "\(run)")
        return try JSON.decode(ImportProgress.self, from: run.output)
    }

    private static let drive = Products.repository("tracks/freeway-drive.gpx")

    @Test func `an imported file is in history and trips once, and not in the rolling track or the counts`()
        async throws
    {
        let service = try await makeIdle()
        let replayed: [Location] = try await service.json("track", "replay", Samples.walk)
        let first = try await importing(service, Samples.walk)
        #expect(first.stored == replayed.count)
        #expect(first.trips == 1)
        #expect(first.finished)
        #expect(first.fault == nil)
        #expect(first.received == first.stored + first.known + first.rejected.total)
        let second = try await importing(service, Samples.walk)
        #expect(second.stored == 0)
        #expect(second.known == first.stored)
        #expect(second.trips == 0)
        let history: [Location] = try await service.json("track", "history")
        #expect(history == replayed)
        let trip = try #require(try await service.json("track", "trips", as: [Trip].self).first)
        #expect(
            try await service.json("track", "history", "--trip", "\(trip.id)", as: [Location].self).count == trip.points
        )
        try await service.run("stop")
        try await service.start()
        #expect(try await service.json("track", as: [Location].self).isEmpty)
        let status: LocationStatus = try await service.json("location")
        #expect(status.received == 0)
        #expect(status.trackCount == 0)
        #expect(status.lastFix == nil)
    }

    @Test func `exporting to GPX and importing it raw gives the same history and trips`() async throws {
        let (from, to) = (try await makeIdle(), try await makeIdle())
        for file in [Samples.walk, Self.drive, Products.repository("tracks/tunnel-gap.gpx")] {
            _ = try await importing(from, file)
        }
        let path = from.file("all.gpx")
        let run = try await from.run("track", "export", "-o", path)
        #expect(run.text.hasPrefix("wrote \(path): "), "\(run)")
        #expect(run.errors.isEmpty)
        try await Tool.run(Programs.xmllint, "--noout", path)
        let copied = try await importing(to, "--raw", path)
        let (original, copy): ([Location], [Location]) =
            (try await from.json("track", "history"), try await to.json("track", "history"))
        #expect(copied.stored == original.count)
        #expect(copied.rejected.total == 0)
        #expect(copy == original)
        func trips(_ service: Service) async throws -> [Trip] {
            try await service.json("track", "trips", as: [Trip].self).map { trip in
                var trip = trip
                trip.id = 0
                return trip
            }
        }
        #expect(try await trips(to) == trips(from))
    }

    @Test func `exporting a trip gives the same bytes on stdout and in a file, in every format`() async throws {
        let service = try await makeIdle()
        _ = try await importing(service, Samples.walk)
        _ = try await importing(service, Self.drive)
        for format in ["gpx", "geojson", "kml", "csv", "json"] {
            let printed = try await service.run("track", "export", "--format", format, "--trip", "2")
            let path = service.file("trip.\(format)")
            try await service.run("track", "export", "--format", format, "--trip", "2", "-o", path)
            #expect(FileManager.default.contents(atPath: path) == printed.output, "\(format)")
            let all = try await service.run("track", "export", "--format", format)
            #expect(all.output.count > printed.output.count)
        }
        #expect(!FileManager.default.fileExists(atPath: service.file("trip.gpx.part")))
    }

    @Test func `import and tracking run concurrently without losing a point`() async throws {
        let service = try Service(TestConfiguration(source: "gpx:\(Self.drive)?rate=100"))
        try await service.start()
        let events = try service.events()
        try await events.wait(for: "a point") { $0.count("location") > 0 ? true : nil }
        let walk = try await importing(service, Samples.walk)
        try await events.wait(forState: "the end of the drive", within: 60) {
            $0.status.location?.connection == .finished
        }
        let status: LocationStatus = try await service.json("location")
        let track: [Location] = try await service.json("track")
        let trips: [Trip] = try await service.json("track", "trips")
        let history: [Location] = try await service.json("track", "history")
        #expect(status.accepted + walk.stored == history.count)
        let walked: [Location] = try await service.json("track", "replay", Samples.walk)
        #expect(Set(track.map(\.timestamp)).isDisjoint(with: walked.map(\.timestamp)))
        #expect(Set(trips.map(\.id)) == [1, 2])
        for trip in trips {
            let points: [Location] = try await service.json("track", "history", "--trip", "\(trip.id)")
            #expect(points.count == trip.points)
            #expect(points.first?.timestamp == trip.start)
            #expect(points.last?.timestamp == trip.end)
        }
    }

    @Test func `an import cut off by kill -9 is completed by the next, with the same trips`() async throws {
        let (whole, killed) = (try await makeIdle(), try await makeIdle())
        let file = try killed.scratch.write(await computing { Self.longTrack(points: 60_000) }, to: "long.gpx")
        let expected = try await importing(whole, file)
        let connection = try killed.connection()
        let body = String(decoding: try JSON.encode(ImportRequest(path: file)), as: UTF8.self)
        try await connection.begin("POST", "/v1/track/import", body: body)
        _ = try await connection.head()
        for _ in 0..<5 { _ = try await connection.chunk() }
        try await killed.crash()
        try await killed.start()
        let rest = try await importing(killed, file)
        #expect(rest.known >= 5000)
        #expect(rest.stored > 0)
        #expect(rest.known + rest.stored == expected.stored)
        let (points, copies): ([Location], [Location]) =
            (try await whole.json("track", "history"), try await killed.json("track", "history"))
        #expect(points == copies)
        let (trips, others): ([Trip], [Trip]) =
            (try await whole.json("track", "trips"), try await killed.json("track", "trips"))
        #expect(trips.count > 5)
        #expect(trips == others)
    }

    @Test func `a crash in the middle of a trip does not change the trip`() async throws {
        let (whole, restarted) =
            (
                try Service(TestConfiguration(source: "gpx:\(Self.drive)?rate=max")),
                // Slow enough to be unfinished at the second crash, even on a busy machine.
                try Service(TestConfiguration(source: "gpx:\(Self.drive)?rate=50"))
            )
        try await whole.start()
        try await restarted.start()
        for points in [100, 300] {
            let events = try restarted.events()
            try await events.wait(forState: "\(points) points") { $0.status.location?.accepted ?? 0 >= points }
            try await restarted.crash()
            try await restarted.start()
        }
        for service in [whole, restarted] {
            let events = try service.events()
            try await events.wait(forState: "the end of the drive", within: 60) {
                $0.status.location?.connection == .finished
            }
        }
        let (trips, others): ([Trip], [Trip]) =
            (try await whole.json("track", "trips"), try await restarted.json("track", "trips"))
        #expect(trips.count == 1)
        #expect(trips == others)
    }

    static let wrong = [
        WrongInput("track import HOME/missing.gpx", 4, "missing.gpx"),
        WrongInput("track import HOME", 1, "HOME", "not a regular file"),
        WrongInput("track import HOME/text.gpx", 1, "text.gpx:1:"),
        WrongInput("track import HOME/empty.gpx", 1, "empty.gpx"),
        WrongInput("track import HOME/no-points.gpx", 1, "no-points.gpx", "no track points"),
        WrongInput("track import", 64),
        WrongInput("track import HOME/text.gpx --accuracy superb", 64, "superb"),
        WrongInput("track import HOME/text.gpx --filter=-5", 64, "-5"),
        WrongInput("track import HOME/text.gpx --maximum 0", 64, "0"),
        WrongInput("track import HOME/text.gpx --raw --filter 5", 64, "--raw"),
        WrongInput("track import HOME/text.gpx --format xml", 64, "xml"),
        WrongInput("track trips --since soon", 64, "soon"),
        WrongInput("track trips --format gpx", 64, "gpx"),
        WrongInput("track history --trip 99", 4, "no trip 99", "track trips"),
        WrongInput("track history --trip last", 64, "last"),
        WrongInput("track export --trip 99", 4, "no trip 99"),
        WrongInput("track export --trip 99 -o HOME/none.gpx", 4, "no trip 99"),
        WrongInput("track export --format table", 64, "table"),
        WrongInput("track export -o HOME/nowhere/a.gpx", 1, "nowhere"),
        WrongInput("track export -o /dev/null", 1, "/dev/null", "regular"),
    ]

    @Test func `wrong input is refused in one line and leaves no file`() async throws {
        let service = try await makeIdle()
        try WrongInputTests.makeFiles(service.scratch)
        for input in Self.wrong { try await input.check(service) }
        let files = try FileManager.default.contentsOfDirectory(atPath: service.home)
        #expect(files.filter { $0.hasPrefix("none") || $0.hasSuffix(".part") } == [])
        try await service.run("stop")
        for command in [
            "track trips", "track import README.md", "track export -o HOME/a.gpx", "track history --trip 1",
        ] {
            try await WrongInput(command, 3, "not running").check(service)
        }
    }

    @Test(arguments: [true, false])
    func `an interrupted export never gets the name of its file`(serviceDies: Bool) async throws {
        let service = try await makeIdle()
        let file = try service.scratch.write(await computing { Self.longTrack(points: 60_000) }, to: "long.gpx")
        _ = try await importing(service, "--raw", file)
        let path = service.file("out.gpx")
        let errors = try PipeEnds()
        let export = try ForegroundProcess(
            Products.backgrounder,
            ["track", "export", "-o", path],
            environment: service.environment,
            descriptors: [2: errors.writeEnd]
        )
        close(errors.writeEnd)
        let lines = LineReader(errors.readEnd)
        try await FileWatch(path + ".part").wait(for: "<trkpt")
        if serviceDies { try await service.crash() } else { export.kill() }
        #expect(try await export.waitForEnd() == (serviceDies ? 1 : 128 + SIGKILL))
        #expect(!FileManager.default.fileExists(atPath: path))
        if serviceDies {
            #expect(!FileManager.default.fileExists(atPath: path + ".part"))
            try await lines.wait(for: "the failure") { lines, _ in
                lines.first?.contains("out.gpx was not written") == true ? true : nil
            }
            try await service.start()
        }
        try await service.run("track", "export", "-o", path)
        try await Tool.run(Programs.xmllint, "--noout", path)
    }

    @Test func `import and export show progress on a terminal only`() async throws {
        let service = try await makeIdle()
        for words in ["track import \(Samples.walk)", "track export -o \(service.file("out.gpx"))"] {
            let piped = try await service.run("track", "export", "--force", "-o", service.file("piped.gpx"))
            #expect(
                piped.text.hasPrefix("wrote \(service.file("piped.gpx")): ") && !piped.text.contains("\r"),
                "\(piped)"
            )
            #expect(piped.errors.isEmpty)
            let command = "'\(Products.backgrounder)' \(words)"
            let run = try await ProgramRun.of(
                Programs.script,
                ["-qec", command, "/dev/null"],
                environment: service.environment
            )
            #expect(run.exitCode == 0, "\(run)")
            #expect(run.text.contains("\r\u{1B}[K"), "\(run)")
            #expect(run.text.contains(words.contains("import") ? " received: " : " points, "), "\(run)")
        }
    }

    @Test func `the good points of a damaged file are imported, and the fault is named`() async throws {
        let service = try await makeIdle()
        let good = Self.longTrack(points: 500).replacing("</trkseg></trk></gpx>", with: "<trkpt lat=\"1\"")
        let path = try service.scratch.write(good, to: "cut.gpx")
        let run = try await service.command(["track", "import", path])
        #expect(run.exitCode == 1)
        #expect(run.text.hasPrefix("500 received: 500 stored"))
        run.expectOneLine(["cut.gpx:", "damaged XML"])
        #expect(try await service.json("track", "history", as: [Location].self).count == 500)
    }

    /// Returns one-hour drives with 15 minutes of rest in between, one point a second.
    private static func longTrack(points: Int) -> String {
        var latitude = -30.0
        let body = (0..<points).map { second in
            if second % 4500 < 3600 { latitude += 0.0001 }
            let time = ISO8601.string(Date(timeIntervalSince1970: 1_700_000_000 + Double(second)))
            return "<trkpt lat=\"\(String(format: "%.7f", latitude))\" lon=\"11.5\"><time>\(time)</time></trkpt>\n"
        }
        return "<gpx version=\"1.1\" creator=\"test\" xmlns=\"http://www.topografix.com/GPX/1/1\"><trk><trkseg>\n"
            + body.joined() + "</trkseg></trk></gpx>\n"
    }
}
