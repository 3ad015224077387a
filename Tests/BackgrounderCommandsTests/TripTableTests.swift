import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import BackgrounderCommands

@Suite struct TripTableTests {
    private func trip(_ id: Int, inProgress: Bool? = nil) -> Trip {
        Trip(
            id: id,
            start: Date(timeIntervalSince1970: 0),
            end: Date(timeIntervalSince1970: 3930),
            distance: 12_345,
            movingTime: 3600,
            topSpeed: 10,
            bounds: GeographicBounds(minLatitude: 0, minLongitude: 0, maxLatitude: 1, maxLongitude: 1),
            points: 5,
            speeds: [0, 10],
            inProgress: inProgress
        )
    }

    @Test func `a trip is one line with its times, kilometres and speeds`() {
        let lines = TripTable.render([trip(1), trip(12, inProgress: true)], hasSparklines: false).split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0].split(separator: " ").first == "ID")
        #expect(!lines[0].contains("SPEED"))
        let words = lines[1].split(separator: " ")
        #expect(
            words == [
                "1", "1970-01-01T00:00:00.000Z", "1970-01-01T01:05:30.000Z", "12.35", "1:06", "1:00", "11.3", "36.0",
            ]
        )
        #expect(lines[2].contains("in progress"))
    }

    @Test func `on a terminal of 80 columns a trip is one line with its local times and its age`() throws {
        let now = Date(timeIntervalSince1970: 3930 + 90)
        let text = TripTable.render([trip(1)], hasSparklines: false, time: .local(now: now), limit: 80)
        let lines = text.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 80 }, "\(text)")
        #expect(lines[0].hasSuffix("TOP km/h"))
        let (start, end) = (trip(1).start.localSeconds.prefix(16), trip(1).end.localSeconds.prefix(16))
        let isOneDay = start.prefix(10) == end.prefix(10)
        #expect(lines[1].hasPrefix(" 1  \(start)  "), "\(text)")
        #expect(lines[1].contains(isOneDay ? "  \(end.suffix(5)) (1 min ago)  " : "…"), "\(text)")
    }

    @Test func `on a terminal the speeds are drawn as a sparkline`() {
        let lines = TripTable.render([trip(1)], hasSparklines: true).split(separator: "\n")
        #expect(lines[0].hasSuffix("SPEED"))
        #expect(lines[1].hasSuffix("▁█"))
    }

    @Test func `a sentence replaces a table without trips`() {
        #expect(TripTable.render([], hasSparklines: true) == "No trips in this range.")
    }
}

@Suite struct ExportTests {
    @Test(arguments: TrackFormat.allCases, [1, 7, 100_000])
    func `points are counted in each format, in pieces of any length`(format: TrackFormat, length: Int) {
        var encoder = format.makeEncoder()
        var text = encoder.begin()
        for index in 0..<250 {
            let location = Location(
                latitude: -1,
                longitude: Double(index % 180) - 90,
                speed: 1,
                timestamp: Date(timeIntervalSince1970: Double(index)),
                segmentStart: index % 50 == 0 ? true : nil
            )
            text += encoder.append(location)
        }
        let bytes = Array((text + encoder.end()).utf8)
        var counter = PointCounter(format: format)
        for begin in stride(from: 0, to: bytes.count, by: length) {
            counter.count(bytes[begin..<min(begin + length, bytes.count)])
        }
        #expect(counter.points == 250)
    }

    @Test func `an export replaces the previous file only when it is complete`() throws {
        let scratch = try ScratchDirectory()
        let path = try scratch.write("before", to: "a.gpx")
        let file = try ExportFile(path)
        try file.write(ArraySlice("one ".utf8))
        try file.write(ArraySlice("two".utf8))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "before")
        try file.complete()
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "one two")
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["a.gpx"])
    }

    @Test func `a discarded export leaves the previous file unchanged`() throws {
        let scratch = try ScratchDirectory()
        let path = try scratch.write("before", to: "a.gpx")
        let file = try ExportFile(path)
        try file.write(ArraySlice("half".utf8))
        file.discard()
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "before")
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["a.gpx"])
    }

    @Test(arguments: ["/dev/null", "/tmp", "/nowhere/a.gpx", "/proc/a.gpx"])
    func `a path that cannot be a regular file is refused`(path: String) {
        #expect(throws: CommandFailure.self) { try ExportFile(path) }
    }

    @Test func `an export to a symbolic link keeps the link and writes to its target`() throws {
        let scratch = try ScratchDirectory()
        let (target, link) = (try scratch.write("before", to: "a.gpx"), scratch.file("link.gpx"))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "a.gpx")
        let file = try ExportFile(link)
        try file.write(ArraySlice("after".utf8))
        try file.complete()
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "a.gpx")
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "after")
    }

    @Test func `a pipe in place of the unfinished file is refused without waiting`() throws {
        let scratch = try ScratchDirectory()
        #expect(mkfifo(scratch.file("a.gpx.part"), 0o600) == 0)
        #expect(throws: CommandFailure.self) { try ExportFile(scratch.file("a.gpx")) }
    }
}
