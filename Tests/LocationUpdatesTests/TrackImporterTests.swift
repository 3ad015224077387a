import BackgrounderAPI
import Foundation
import SystemSupport
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

    /// A drive to the north with a point every 10 m and every second.
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

    @Test func `a file arrives in batches, and its last trip ends at the end of the file`() async throws {
        let batches = try await read(try file(points(0..<20_000) + Self.tail))
        #expect(batches.count > 10)
        #expect(batches.allSatisfy { $0.accepted.count < 3000 && $0.fault == nil })
        #expect(batches.flatMap(\.accepted).count == 20_000)
        let trips = batches.flatMap(\.trips).map(\.trip)
        #expect(trips.last?.points == 20_000)
        #expect(trips.last?.inProgress == nil)
        #expect(trips.dropLast().allSatisfy { $0.inProgress == true })
    }

    @Test func `the filter uses the given settings`() async throws {
        let path = try file(points(0..<100) + points(100..<110, rest: "<hdop>9</hdop>") + Self.tail)
        let settings = LocationSettings(distanceFilter: 95)
        let batch = try #require(try await read(path, .filtered(settings)).first)
        #expect(batch.accepted.count == 10)
        #expect(batch.rejected[.distance] == 90)
        #expect(batch.rejected[.accuracy] == 10)
    }

    @Test func `a raw import accepts every valid point except duplicates, even back in time`() async throws {
        let body =
            points(0..<3) + points(2..<3) + points(1..<2, rest: "<hdop>99</hdop>") + "</trkseg><trkseg>"
            + "<trkpt lat=\"91\" lon=\"8\"><time>2026-01-01T00:00:00Z</time></trkpt>"
            + points(9..<10, rest: "<fix>none</fix>") + points(5..<6, time: false) + points(7..<8)
        let batch = try #require(try await read(try file(body + Self.tail), .raw).first)
        #expect(batch.received == 9)
        #expect(batch.rejected[.duplicate] == 1)
        #expect(batch.rejected[.noFix] == 1)
        #expect(batch.rejected[.invalid] == 2)
        // The last one opens the second segment, whose other points are rejected.
        #expect(batch.accepted.map(\.segmentStart) == [true, nil, nil, nil, true])
        #expect(batch.accepted.map { $0.timestamp.timeIntervalSince1970 - 1_700_000_000 } == [0, 1, 2, 1, 7])
    }

    @Test func `a point without a time is invalid, and no time is invented`() async throws {
        let batch = try #require(
            try await read(try file(points(0..<5, time: false) + points(5..<8) + Self.tail)).first
        )
        #expect(batch.rejected[.invalid] == 5)
        #expect(batch.accepted.count == 3)
        #expect(batch.fault == nil)
    }

    @Test func `a file without times imports nothing and reports why`() async throws {
        let batches = try await read(try file(points(0..<5, time: false) + Self.tail))
        #expect(batches.last?.fault?.contains("has no times") == true)
        #expect(batches.flatMap(\.accepted).isEmpty)
    }

    @Test func `a file without points imports nothing and reports why`() async throws {
        let batches = try await read(try file(Self.tail))
        #expect(batches.map(\.received) == [0])
        #expect(batches.last?.fault?.contains("has no track points") == true)
    }

    @Test func `points before the damage are imported, and the fault with its line follows them`() async throws {
        let batches = try await read(try file(points(0..<500) + "<trkpt lat=\"1\" lon=\"2\"><broken"))
        #expect(batches.flatMap(\.accepted).count == 500)
        #expect(batches.last?.fault?.contains("a.gpx:502: damaged XML") == true, "\(batches.last?.fault ?? "")")
        #expect(batches.flatMap(\.trips).last?.trip.points == 500)
        #expect(batches.flatMap(\.trips).last?.trip.inProgress == nil)
    }

    @Test func `a missing file and a folder are refused immediately`() async throws {
        await #expect(throws: TrackFault(path: "/nowhere.gpx", kind: .unreadable(2))) {
            try await TrackImporter.open("/nowhere.gpx", selection: .raw)
        }
        await #expect(throws: TrackFault(path: scratch.path, kind: .notRegular)) {
            try await TrackImporter.open(scratch.path, selection: .raw)
        }
    }
}
