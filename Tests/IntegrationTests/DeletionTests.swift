import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// `track delete`: deleted points are gone from the replies and from the files.
@Suite(.sharing) struct DeletionTests {
    private let service: Service

    init() async throws {
        service = try Service(source: "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=max")
        try await service.start()
        try await service.waitForEndOfTrack()
    }

    private func history() async throws -> [Location] { try await service.json("track", "history") }
    private func trips() async throws -> [Trip] { try await service.json("track", "trips") }

    /// Returns the bytes of all files in the state folder.
    private func stateBytes() throws -> Data {
        let files = try FileManager.default.subpathsOfDirectory(atPath: service.paths.state)
        return files.reduce(into: Data()) { data, file in
            data += FileManager.default.contents(atPath: "\(service.paths.state)/\(file)") ?? Data()
        }
    }

    /// Returns the coordinates of a point as SQLite stores them.
    private func stored(_ location: Location) -> [Data] {
        [location.latitude, location.longitude].map { number in
            withUnsafeBytes(of: number.bitPattern.bigEndian) { Data($0) }
        }
    }

    @Test func `deleting a trip removes its points and leaves no trace of them in the files`() async throws {
        let trip = try #require(try await trips().first)
        let before = try await history()
        let points: [Location] = try await service.json("track", "history", "--trip", "\(trip.id)")
        try #require(points.count > 100)
        let needles = points.flatMap(stored)
        let full = try stateBytes()
        #expect(needles.allSatisfy { full.range(of: $0) != nil })

        let trial = try await service.command(["track", "delete", "--trip", "\(trip.id)"])
        #expect(trial.exitCode == 64)
        #expect(
            trial.errors.contains("cannot delete \(points.count) points of 1 trip without confirmation")
        )
        #expect(try await history() == before)

        let deletion: DeletionReply = try await service.json("track", "delete", "--trip", "\(trip.id)", "--yes")
        #expect(deletion.points == points.count)
        #expect(deletion.trips == 1)
        #expect(try await trips().allSatisfy { $0.id != trip.id })
        let gone = Set(points.map(\.timestamp))
        #expect(try await history().map(\.timestamp) == before.map(\.timestamp).filter { !gone.contains($0) })
        let track: [Location] = try await service.json("track")
        #expect(track.allSatisfy { !gone.contains($0.timestamp) })

        let left = Set(try await history().flatMap(stored))
        let bytes = try stateBytes()
        for needle in Set(needles).subtracting(left) { #expect(bytes.range(of: needle) == nil) }
        let again = try await service.command(["track", "delete", "--trip", "\(trip.id)", "--yes"])
        #expect(again.exitCode == 4)
        #expect(again.errors.contains("no trip \(trip.id);"))
    }

    @Test func `deleting the middle of a trip leaves two trips, each with its own points`() async throws {
        let trip = try #require(try await trips().first)
        let points: [Location] = try await service.json("track", "history", "--trip", "\(trip.id)")
        let since = trip.start.addingTimeInterval(trip.duration * 0.15)
        let until = trip.start.addingTimeInterval(trip.duration * 0.85)
        let run = try await service.run(
            "track",
            "delete",
            "--since",
            ISO8601.string(since),
            "--until",
            ISO8601.string(until),
            "--yes"
        )
        let deleted = points.filter { (since..<until).contains($0.timestamp) }
        #expect(run.text == "deleted \(deleted.count) points of 1 trip\n")
        for trip in try await trips() {
            let own: [Location] = try await service.json("track", "history", "--trip", "\(trip.id)")
            #expect(own.count == trip.points)
            #expect(own.allSatisfy { !(since..<until).contains($0.timestamp) })
            #expect(trip.end <= since || trip.start >= until)
            #expect(trip.distance > 1000)
        }
        #expect(try await trips().count == 2)
        // The first point after the gap starts a segment, so the gap is not drawn.
        let after = try #require(try await history().first { $0.timestamp >= until })
        #expect(after.segmentStart == true)
        // A crash restores nothing. With location stopped, the service does not replay the file again.
        try await service.run("location", "stop")
        try await service.crash()
        try await service.start()
        #expect(try await history().allSatisfy { !(since..<until).contains($0.timestamp) })
    }

    @Test func `delete without a range is refused, and a range without points deletes nothing`() async throws {
        let before = try await history()
        let run = try await service.command(["track", "delete", "--yes"])
        #expect(run.exitCode == 64)
        #expect(run.errors.contains("cannot delete points without a range"))
        let none = try await service.run("track", "delete", "--until", "1999-01-01T00:00:00Z")
        #expect(none.text == "No points in this range.\n")
        #expect(try await history() == before)
    }
}
