import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// The output of the track commands, read by other programs.
@Suite(.sharing) struct TrackOutputTests {
    @Test func `track, history and replay give the same points in every format`() async throws {
        let service = try Service(TestConfiguration(source: "gpx:\(Samples.walk)?rate=max"))
        try await service.start()
        try await service.waitForEndOfTrack()
        let track: [Location] = try await service.json("track")
        let history: [Location] = try await service.json("track", "history")
        #expect(track.count == 100)
        #expect(history.count > 100)
        #expect(Array(history.suffix(100)) == track)
        try await expectFormats(service, ["track"], track)
        try await expectFormats(service, ["track", "history"], history)
        try await expectFormats(service, ["track", "replay", Samples.walk], history)

        let last: [Location] = try await service.json("track", "--last", "3")
        #expect(last == track.suffix(3))
        let since = ISO8601.string(history[50].timestamp)
        let until = ISO8601.string(history[60].timestamp)
        let range: [Location] = try await service.json("track", "history", "--since", since, "--until", until)
        #expect(range == Array(history[50..<60]))
        let none: [Location] = try await service.json("track", "history", "--until", "1990-01-01T00:00:00Z")
        #expect(none.isEmpty)
        for format in ["gpx", "kml", "geojson", "csv", "table"] {
            try await service.run("track", "history", "--until", "1990-01-01T00:00:00Z", "--format", format)
        }
    }

    @Test func `track map draws the rolling track or part of the history in a self-contained file`() async throws {
        let service = try Service(TestConfiguration(source: "gpx:\(Samples.walk)?rate=max"))
        try await service.start()
        try await service.waitForEndOfTrack()
        let history: [Location] = try await service.json("track", "history")
        let since = ISO8601.string(history[200].timestamp)
        for (options, points) in [([], 100), (["--since", since], history.count - 200)] {
            let text = try await service.command(["track", "map"] + options).text
            let svg = try XMLTree.parse(text)
            #expect(svg.name == "svg")
            #expect(svg["desc"]?.text.hasPrefix("\(points) points from ") == true)
            #expect(text.ranges(of: "://").count == 1, "a URL other than SVG's namespace")
        }
        let all = try await service.run("track", "map", "--since", ISO8601.string(history[0].timestamp)).output
        let picture = try Data(contentsOf: URL(filePath: Products.repository("tracks/city-walk.svg")))
        #expect(all == picture, "tracks/city-walk.svg is out of date: draw it again with track map")
        let none = try await service.command(["track", "map", "--until", "1990-01-01T00:00:00Z"])
        none.expectOneLine(["no points"])
        #expect(none.exitCode == 1)
    }

    private func expectFormats(_ service: Service, _ command: [String], _ points: [Location]) async throws {
        func output(_ format: String) async throws -> Data {
            let run = try await service.command(command + ["--format", format])
            try #require(run.exitCode == 0, "\(run)")
            return run.output
        }
        for format in ["gpx", "kml"] {
            let file = try service.scratch.write(try await output(format), to: "track.\(format)")
            let name = format == "gpx" ? "trkpt" : "coordinates"
            let found = try await Tool.run(Programs.xmllint, "--nonet", "--xpath", "//*[local-name()='\(name)']", file)
            let text = String(decoding: found, as: UTF8.self)
            let count =
                format == "gpx"
                ? text.ranges(of: "<trkpt ").count
                : text.replacing(/<[^>]*>/, with: " ").split(whereSeparator: \.isWhitespace).count
            #expect(count == points.count, "\(command) in \(format)")
        }
        let places = try JSONValue(parsing: try await output("geojson"))
        #expect(places["type"] == .string("FeatureCollection"))
        let text = String(decoding: try await output("csv"), as: UTF8.self)
        #expect(text.split(whereSeparator: \.isNewline).count == points.count + 1)
        let table = String(decoding: try await output("table"), as: UTF8.self)
        let isReplay = command.dropFirst().first == "replay"
        #expect(table.split(separator: "\n").count == points.count + (isReplay ? 0 : 1))
        guard !isReplay else { return }
        // Reading our own GPX output gives the same points.
        let replay = try await service.command(
            [
                "track", "replay", service.file("track.gpx"), "--no-jitter-guard", "--accuracy", "threeKilometers",
                "--format", "json",
            ]
        )
        try #require(replay.exitCode == 0, "\(replay)")
        let again = try JSON.decode([Location].self, from: replay.output)
        #expect(again.map(\.timestamp) == points.map(\.timestamp))
        #expect(again.map(\.latitude) == points.map(\.latitude))
        #expect(again.map(\.horizontalAccuracy) == points.map(\.horizontalAccuracy))
    }

    @Test func `track --follow prints the track and then each new point once, one JSON object a line`() async throws {
        let service = try Service(
            TestConfiguration(source: "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=20")
        )
        try await service.start()
        let pipe = try PipeEnds()
        let follow = try ForegroundProcess(
            Products.backgrounder,
            ["track", "--follow", "--format", "json"],
            environment: service.environment,
            descriptors: [1: pipe.writeEnd]
        )
        close(pipe.writeEnd)
        let reader = LineReader(pipe.readEnd)
        let lines = try await reader.wait(for: "60 points") { lines, _ in lines.count >= 60 ? lines : nil }
        let points = try lines.map { try JSON.decode(Location.self, from: Data($0.utf8)) }
        #expect(Set(points.map(\.timestamp)).count == points.count)
        #expect(points == points.sorted { $0.timestamp < $1.timestamp })
        let history: [Location] = try await service.json("track", "history")
        let start = try #require(history.firstIndex(of: points[0]))
        #expect(Array(history[start...].prefix(points.count)) == points)
        // A follower does not count as attached.
        let status: ServiceStatus = try await service.json("status")
        #expect(status.attached == 0)
        #expect(status.state == .background)
        follow.kill(SIGINT)
        #expect(try await follow.waitForEnd() != 1)
    }
}
