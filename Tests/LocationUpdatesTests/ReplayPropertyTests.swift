import BackgrounderAPI
import Foundation
import LocationUpdates
import SystemSupport
import TestSupport
import Testing

/// A recording gives the same points no matter how it is replayed.
@Suite struct ReplayPropertyTests {
    let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    /// Writes random fixes, with odd places and times, to a file of this kind and returns its source.
    private func source(_ kind: String) throws -> String {
        if kind == "gpsd-log" {
            let lines = GPSDLogTests.drive(seed: 21, count: 3000)
            return "gpsd-log:" + (try scratch.write(lines.map { $0 + "\n" }.joined(), to: "log.jsonl"))
        }
        var points: [String] = []
        for case .fix(let fix) in FilterPropertyTests.reports(seed: 22, count: 6000) {
            if fix.opensSegment { points.append("</trkseg><trkseg>") }
            let latitude = fix.latitude.map { "lat=\"\($0)\"" } ?? ""
            let time = fix.time.map { "<time>\(ISO8601.string($0))</time>" } ?? ""
            let accuracy = fix.eph.map { "<extensions><bg:accuracy>\($0)</bg:accuracy></extensions>" } ?? ""
            let speed = fix.speed.map { "<speed>\($0)</speed>" } ?? ""
            points.append("<trkpt \(latitude) lon=\"11\">\(time)\(speed)\(accuracy)</trkpt>")
        }
        let root = "<gpx xmlns:bg=\"https://backgrounder.example/gpx/1\"><trk><trkseg>"
        return "gpx:"
            + (try scratch.write(root + points.joined(separator: "\n") + "</trkseg></trk></gpx>", to: "t.gpx"))
    }

    private func run(_ source: String, _ journal: MemoryJournal = MemoryJournal()) async throws -> (
        points: [Location], status: LocationStatus, journal: MemoryJournal
    ) {
        let settings = LocationSettings(desiredAccuracy: .hundredMeters, distanceFilter: 20)
        let rig = try await LocationRig(source, settings: settings, journal: journal)
        let status = try await rig.wait(for: "end of the file") { $0.connection == .finished }
        let points = await journal.points
        let counts = status.rejected
        #expect(status.received == status.accepted + counts.total)
        try await rig.shutDown()
        return (points, status, journal)
    }

    @Test(arguments: ["gpx", "gpsd-log"])
    func `a replay gives the same points at every rate`(kind: String) async throws {
        let source = try source(kind)
        let expected = try await run("\(source)?rate=max")
        #expect(expected.points.count > 300)
        for rate in ["1000000", "200000"] {
            let other = try await run("\(source)?rate=\(rate)")
            #expect(other.points == expected.points)
            #expect(other.status.rejected == expected.status.rejected)
        }
    }

    @Test(arguments: ["gpx", "gpsd-log"])
    func `a service killed after any commit resumes and ends with the same points`(kind: String) async throws {
        let source = try source(kind)
        let expected = try await run("\(source)?rate=max")
        // A replay that has ended would start over.
        let moments = try await expected.journal.moments.filter { moment in
            try JSONDecoder().decode(LocationCheckpoint.self, from: moment.bytes).replay?.ending == nil
        }
        #expect(moments.count > 8)
        for moment in moments {
            let rest = MemoryJournal(points: Array(expected.points.prefix(moment.points)), bytes: moment.bytes)
            let resumed = try await run("\(source)?rate=max", rest)
            #expect(resumed.points == expected.points)
            #expect(resumed.status.rejected == expected.status.rejected)
        }
    }
}
