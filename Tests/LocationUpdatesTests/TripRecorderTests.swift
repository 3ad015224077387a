import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import LocationUpdates

/// The rules in docs/behaviour.md, Trips.
@Suite struct TripRecorderTests {
    /// A drive along the equator with one point a second; distances are in metres to the east.
    private struct Drive {
        static let metresPerDegree = 111_319.4908
        var points: [Location] = []
        var time = 1_700_000_000.0
        var metres = 0.0

        /// Drives for this many seconds at `speed`, in m/s; the receiver reports no speed if `reports` is false.
        mutating func go(_ seconds: Int, at speed: Double, reports: Bool = true, opensSegment: Bool = false) {
            for second in 0..<seconds {
                metres += speed
                time += 1
                add(speed: reports ? speed : nil, opensSegment: opensSegment && second == 0)
            }
        }

        mutating func add(speed: Double? = nil, opensSegment: Bool = false) {
            points.append(
                Location(
                    latitude: 0,
                    longitude: metres / Self.metresPerDegree,
                    speed: speed,
                    timestamp: Date(timeIntervalSince1970: time),
                    segmentStart: opensSegment || points.isEmpty ? true : nil
                )
            )
        }
    }

    /// Returns the trips of `points` in order, in their last reported state, with their first and last indices.
    private func trips(_ points: [Location], batch: Int = 7) -> [(trip: Trip, first: Int, last: Int)] {
        var recorder = TripRecorder()
        var trips: [Int: (trip: Trip, first: Int, last: Int)] = [:]
        for begin in stride(from: 0, to: points.count, by: batch) {
            let end = min(begin + batch, points.count)
            for point in points[begin..<end] { recorder.receive(point) }
            for record in recorder.takeChanges() {
                let first = end - 1 - record.pointsAfterFirst
                trips[first] = (record.trip, first, end - 1 - record.pointsAfterLast)
            }
        }
        return trips.values.sorted { $0.first < $1.first }
    }

    private func isNear(_ value: Double, _ expected: Double, within tolerance: Double = 0.01) -> Bool {
        abs(value - expected) <= tolerance * max(1, expected)
    }

    @Test func `the trip in progress is known from the first movement to the stop or a gap`() throws {
        var drive = Drive()
        var recorder = TripRecorder()
        func receive(_ change: (inout Drive) -> Void) -> Date {
            let before = drive.points.count
            change(&drive)
            for point in drive.points.dropFirst(before) { recorder.receive(point) }
            return Date(timeIntervalSince1970: drive.time)
        }
        #expect(recorder.progress(at: Date()) == nil)
        let start = receive { $0.go(300, at: 0) }
        #expect(recorder.progress(at: start) == nil)
        let now = receive { $0.go(100, at: 10) }
        let trip = try #require(recorder.progress(at: now))
        #expect(trip.start == start)
        #expect(trip.points == 101)
        #expect(trip.duration == 100)
        #expect(isNear(trip.distance, 1000))
        #expect(recorder.progress(at: now.addingTimeInterval(600)) == trip)
        #expect(recorder.progress(at: now.addingTimeInterval(601)) == nil)
        let stop = receive { $0.go(900, at: 0) }
        #expect(recorder.progress(at: stop) == nil)
    }

    @Test func `a drive between two stops is one trip, from the last standing point to the arrival`() throws {
        var drive = Drive()
        drive.go(300, at: 0)
        drive.go(100, at: 10)
        drive.go(900, at: 0)
        let found = trips(drive.points)
        try #require(found.count == 1)
        let (trip, first, last) = found[0]
        #expect((first, last) == (299, 400))
        #expect(trip.inProgress == nil)
        #expect(trip.points == 102)
        #expect(trip.duration == 101)
        #expect(isNear(trip.distance, 1000))
        #expect(trip.movingTime == 100)
        #expect(trip.topSpeed == 10)
        #expect(isNear(trip.averageSpeed, 1000.0 / 101))
        #expect(isNear(trip.bounds.maxLongitude * Drive.metresPerDegree, 1000))
        #expect(trip.bounds.minLongitude == 0)
        #expect(trip.start == drive.points[299].timestamp)
        #expect(trip.end == drive.points[400].timestamp)
    }

    @Test func `standing still and wandering within 50 m is not a trip`() {
        var drive = Drive()
        for _ in 0..<100 {
            drive.go(4, at: 10)
            drive.go(4, at: -10, reports: false)
        }
        #expect(trips(drive.points).isEmpty)
    }

    @Test func `a stop of less than 10 minutes is part of the trip but does not count as moving`() throws {
        var drive = Drive()
        drive.go(60, at: 10)
        drive.go(590, at: 0)
        drive.go(60, at: 10)
        let found = trips(drive.points)
        try #require(found.count == 1)
        #expect(found[0].trip.inProgress == true)
        #expect(found[0].trip.movingTime == 119)
        #expect(found[0].trip.duration == 709)
        #expect(isNear(found[0].trip.distance, 1190))
    }

    @Test func `a trip ends where a stop began, even with wandering during the stop`() throws {
        var drive = Drive()
        drive.go(200, at: 10)
        drive.go(1, at: 0)
        for _ in 0..<100 {
            drive.go(4, at: 2, reports: false)
            drive.go(4, at: -2, reports: false)
        }
        drive.go(100, at: 10)
        let found = trips(drive.points)
        try #require(found.count == 2)
        #expect(found[0].last == 200)
        #expect(isNear(found[0].trip.distance, 1990, within: 0.001))
        #expect(found[0].trip.speeds.count == 25)
        #expect(found[0].trip.speeds.allSatisfy { $0 > 8 })
        #expect(found[1].trip.inProgress == true)
    }

    @Test(arguments: [(600.0, 1), (600.001, 2)])
    func `a gap of more than 10 minutes ends the trip at its last point`(gap: Double, count: Int) {
        var drive = Drive()
        drive.go(100, at: 10)
        drive.time += gap - 1
        drive.metres += 1000
        drive.go(100, at: 10, opensSegment: true)
        let found = trips(drive.points)
        #expect(found.count == count)
        #expect(found.map(\.trip.inProgress).dropLast().allSatisfy { $0 == nil })
        #expect(found.map(\.first) == (count == 1 ? [0] : [0, 100]))
        #expect(found.map(\.last) == (count == 1 ? [199] : [99, 199]))
    }

    @Test func `a step back in time ends the trip at its last point`() {
        var drive = Drive()
        drive.go(100, at: 10)
        drive.time -= 5000
        drive.go(100, at: 10, opensSegment: true)
        let found = trips(drive.points)
        #expect(found.map(\.first) == [0, 100])
        #expect(found.map(\.last) == [99, 199])
    }

    @Test func `the jump to a new segment adds neither distance nor moving time`() throws {
        var drive = Drive()
        drive.go(100, at: 10)
        drive.metres += 5000
        drive.time += 300
        drive.go(100, at: 10, opensSegment: true)
        let found = trips(drive.points)
        try #require(found.count == 1)
        #expect(isNear(found[0].trip.distance, 990 + 990))
        #expect(found[0].trip.movingTime == 99 + 99)
        #expect(found[0].trip.duration == 99 + 301 + 99)
    }

    @Test func `a jump to another segment at rest is not a movement`() {
        var drive = Drive()
        drive.go(100, at: 0)
        drive.metres += 5000
        drive.go(100, at: 0, opensSegment: true)
        #expect(trips(drive.points).isEmpty)
        drive.go(20, at: 10)
        #expect(trips(drive.points).map(\.first) == [199])
    }

    @Test func `missing speeds are derived from the track, and short steps give no top speed`() throws {
        var drive = Drive()
        drive.go(50, at: 0, reports: false)
        drive.go(60, at: 10, reports: false)
        drive.metres += 10
        drive.time += 0.5
        drive.add()
        drive.go(60, at: 12, reports: false)
        let found = trips(drive.points)
        try #require(found.count == 1)
        #expect(found[0].first == 49)
        #expect(isNear(found[0].trip.topSpeed, 12, within: 0.001))
        #expect(found[0].trip.movingTime == 120.5)
    }

    @Test func `a point that reports standing does not move, even if its place changes`() throws {
        var drive = Drive()
        drive.go(100, at: 10)
        for _ in 0..<60 {
            drive.metres += 1
            drive.time += 1
            drive.add(speed: 0.2)
        }
        let found = trips(drive.points)
        try #require(found.count == 1)
        #expect(found[0].trip.movingTime == 99)
        #expect(found[0].trip.topSpeed == 10)
    }

    @Test func `a first point that already moves begins the trip`() {
        var drive = Drive()
        drive.go(20, at: 10)
        #expect(trips(drive.points).map(\.first) == [0])
    }

    @Test func `bounds across the antimeridian have their western edge in the eastern hemisphere`() throws {
        let points = (0..<200).map { index in
            Location(
                latitude: -17 - Double(index) * 0.0001,
                longitude: (179.995 + Double(index) * 0.0001 + 180).truncatingRemainder(dividingBy: 360) - 180,
                timestamp: Date(timeIntervalSince1970: Double(index))
            )
        }
        let bounds = try #require(trips(points).first?.trip.bounds)
        #expect(abs(bounds.minLongitude - 179.995) < 1e-9)
        #expect(abs(bounds.maxLongitude + 179.9851) < 1e-9)
        #expect(bounds.minLatitude < -17.0198)
        #expect(bounds.maxLatitude == -17)
    }

    @Test(arguments: [1, 33, 64, 1000, 100_000])
    func `speeds are averages over at most 32 equal spans and add up to the distance`(seconds: Int) throws {
        var drive = Drive()
        drive.go(50, at: 10)
        drive.go(seconds, at: 20)
        let trip = try #require(trips(drive.points, batch: 1000).first?.trip)
        #expect((1...32).contains(trip.speeds.count))
        if seconds >= 100 { #expect(trip.speeds.count > 16) }
        var span = 1.0
        while trip.duration > 32 * span { span *= 2 }
        let rest = trip.duration - span * Double(trip.speeds.count - 1)
        let sum = trip.speeds.dropLast().reduce(0, +) * span + (trip.speeds.last ?? 0) * rest
        #expect(isNear(sum, trip.distance, within: 0.001))
    }

    @Test func `a checkpoint without trips, or with trips in another layout, is still read`() throws {
        var checkpoint = LocationCheckpoint(source: "gpx:a")
        let old = try JSONDecoder().decode(LocationCheckpoint.self, from: JSONEncoder().encode(checkpoint))
        #expect(old.trips == nil)
        #expect(old == checkpoint)
        checkpoint.trips = TripRecorder()
        let text = String(decoding: try JSONEncoder().encode(checkpoint), as: UTF8.self)
        for strange in ["\"\"", "\"AAAA\"", "\"AAAAAAAA8D8AAAAAAADwPw==\"", "{\"count\":1}", "7"] {
            let other = text.replacing(/"trips":"[^"]*"/, with: "\"trips\":\(strange)")
            #expect(other != text)
            #expect(try JSONDecoder().decode(LocationCheckpoint.self, from: Data(other.utf8)) == checkpoint)
        }
    }

    @Test(arguments: [1, 5, 1000])
    func `a recorder restored at any point and fed in batches of any size finds the same trips`(batch: Int) throws {
        var generator = SeededGenerator(seed: 4)
        var drive = Drive()
        for _ in 0..<60 {
            drive.time += Bool.random(using: &generator) ? 0 : .random(in: 0...900, using: &generator)
            drive.go(
                .random(in: 1...400, using: &generator),
                at: [0, 0, 0.3, 1.4, 12, 30].randomElement(using: &generator) ?? 0,
                reports: .random(using: &generator),
                opensSegment: .random(using: &generator)
            )
        }
        var recorder = TripRecorder()
        var found: [Int: Trip] = [:]
        for begin in stride(from: 0, to: drive.points.count, by: batch) {
            let end = min(begin + batch, drive.points.count)
            for point in drive.points[begin..<end] { recorder.receive(point) }
            for record in recorder.takeChanges() { found[end - 1 - record.pointsAfterFirst] = record.trip }
            guard begin.isMultiple(of: 7) else { continue }
            let copy = try JSONDecoder().decode([TripRecorder].self, from: JSONEncoder().encode([recorder]))[0]
            #expect(copy == recorder)
            recorder = copy
        }
        let expected = trips(drive.points)
        #expect(expected.count > 3)
        #expect(found.sorted { $0.key < $1.key }.map(\.value) == expected.map(\.trip))
        #expect(found.keys.sorted() == expected.map(\.first))
    }
}
