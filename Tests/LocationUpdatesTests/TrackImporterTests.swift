import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import LocationUpdates

@Suite struct TrackImporterTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    private func file(_ body: String) throws -> String {
        let head = "<gpx version=\"1.1\" xmlns=\"http://www.topografix.com/GPX/1/1\"><trk><trkseg>\n"
        return try scratch.write(head + body, to: "a.gpx")
    }

    private static let tail = "</trkseg></trk></gpx>"

    /// A drive to the north, 10 m and 1 s a point.
    private func points(_ range: Range<Int>, time: Bool = true, rest: String = "") -> String {
        range.map { index in
            let date = ISO8601.string(Date(timeIntervalSince1970: 1_700_000_000 + Double(index)))
            return "<trkpt lat=\"\(47 + Double(index) * 0.00009)\" lon=\"8\">"
                + (time ? "<time>\(date)</time>" : "") + rest + "</trkpt>\n"
        }.joined()
    }

    private func read(
        _ path: String,
        _ selection: TrackImporter.Selection = .filtered(LocationSettings())
    ) async throws -> [TrackImporter.Batch] {
        let importer = try await TrackImporter.open(path, selection: selection)
        var batches: [TrackImporter.Batch] = []
        while let batch = await importer.next() { batches.append(batch) }
        #expect(await importer.next() == nil)
        for batch in batches { #expect(batch.received == batch.accepted.count + batch.rejected.total) }
        return batches
    }

    @Test func `A file comes in batches, with the trips that end at its end`() async throws {
        let batches = try await read(try file(points(0..<20_000) + Self.tail))
        #expect(batches.count > 10)
        #expect(batches.allSatisfy { $0.accepted.count < 3000 && $0.fault == nil })
        #expect(batches.flatMap(\.accepted).count == 20_000)
        let trips = batches.flatMap(\.trips).map(\.trip)
        #expect(trips.last?.points == 20_000 && trips.last?.inProgress == nil)
        #expect(trips.dropLast().allSatisfy { $0.inProgress == true })
    }

    @Test func `The filter has the settings that are given`() async throws {
        let path = try file(points(0..<100) + points(100..<110, rest: "<hdop>9</hdop>") + Self.tail)
        let settings = LocationSettings(distanceFilter: 95)
        let batch = try #require(try await read(path, .filtered(settings)).first)
        #expect(batch.accepted.count == 10)
        #expect(batch.rejected[.distance] == 90 && batch.rejected[.accuracy] == 10)
    }

    @Test func `Raw takes every valid point, and each segment of the file as one`() async throws {
        let body =
            points(0..<3) + points(2..<3) + points(1..<2, rest: "<hdop>99</hdop>") + "</trkseg><trkseg>"
            + "<trkpt lat=\"91\" lon=\"8\"><time>2026-01-01T00:00:00Z</time></trkpt>"
            + points(9..<10, rest: "<fix>none</fix>") + points(5..<6, time: false) + points(7..<8)
        let batch = try #require(try await read(try file(body + Self.tail), .raw).first)
        #expect(batch.received == 9)
        #expect(batch.rejected[.duplicate] == 1 && batch.rejected[.noFix] == 1 && batch.rejected[.invalid] == 2)
        #expect(batch.accepted.map(\.segmentStart) == [true, nil, nil, nil, nil])
        #expect(batch.accepted.map { $0.timestamp.timeIntervalSince1970 - 1_700_000_000 } == [0, 1, 2, 1, 7])
    }

    @Test func `A point without a time is invalid, and one is never invented`() async throws {
        let batch = try #require(
            try await read(try file(points(0..<5, time: false) + points(5..<8) + Self.tail)).first
        )
        #expect(batch.rejected[.invalid] == 5 && batch.accepted.count == 3 && batch.fault == nil)
    }

    @Test func `Without any time there is nothing to import, and that is said`() async throws {
        let batches = try await read(try file(points(0..<5, time: false) + Self.tail))
        #expect(batches.last?.fault?.contains("has no times") == true)
        #expect(batches.flatMap(\.accepted).isEmpty)
    }

    @Test func `Without points there is nothing to import, and that is said`() async throws {
        let batches = try await read(try file(Self.tail))
        #expect(batches.map(\.received) == [0])
        #expect(batches.last?.fault?.contains("has no track points") == true)
    }

    @Test func `What is before the damage comes, with the fault and its line after it`() async throws {
        let batches = try await read(try file(points(0..<500) + "<trkpt lat=\"1\" lon=\"2\"><broken"))
        #expect(batches.flatMap(\.accepted).count == 500)
        #expect(batches.last?.fault?.contains("a.gpx:502: damaged XML") == true, "\(batches.last?.fault ?? "")")
        #expect(batches.flatMap(\.trips).last?.trip.points == 500)
        #expect(batches.flatMap(\.trips).last?.trip.inProgress == nil)
    }

    @Test func `A file that is not there is refused at once`() async throws {
        await #expect(throws: TrackFault(path: "/nowhere.gpx", kind: .unreadable(2))) {
            try await TrackImporter.open("/nowhere.gpx", selection: .raw)
        }
        await #expect(throws: TrackFault(path: scratch.path, kind: .notRegular)) {
            try await TrackImporter.open(scratch.path, selection: .raw)
        }
    }
}
