import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// Trips compared with an independent reference (Tests/Reference/trips.py), which has all points from the start.
@Suite(.sharing) struct TripReferenceTests {
    @Test(arguments: [11, 12] as [UInt64])
    func `the trips are those that the reference finds in the same points`(seed: UInt64) async throws {
        let service = try Service(TestConfiguration(source: "gpsd://127.0.0.1:1"))
        try await service.start()
        let file = try service.scratch.write(Self.randomTrack(seed: seed), to: "random.gpx")
        let total: ImportProgress = try await service.json("track", "import", "--raw", file)
        let found: [Trip] = try await service.json("track", "trips")
        // The reference needs the points in the order of the file, which steps back in time.
        var points: [Location] = []
        let order = try await Tool.run(
            Programs.sqlite,
            "-json",
            service.paths.database,
            "SELECT latitude, longitude, speed, time, segmentStart FROM point ORDER BY id"
        )
        for row in try JSONDecoder().decode([StoredPoint].self, from: order) { points.append(row.location) }
        #expect(points.count == total.stored)
        let history = try service.scratch.write(try JSON.line(points), to: "history.json")
        let script = Products.repository("Tests/Reference/trips.py")
        let run = try await ProgramRun.of(Programs.python, [script, history], within: 120)
        try #require(run.exitCode == 0, "\(run)")
        let expected = try JSON.decode([ReferenceTrip].self, from: run.output)
        #expect(found.count == expected.count)
        #expect(found.count > 8)
        #expect(total.trips == found.count)
        for (trip, reference) in zip(found.sorted { $0.id < $1.id }, expected) {
            #expect(trip.start == reference.start)
            #expect(trip.end == reference.end)
            #expect(trip.points == reference.points)
            #expect(abs(trip.distance - reference.distance) <= 0.001 + reference.distance * 1e-6)
            #expect(abs(trip.movingTime - reference.movingTime) < 0.01)
            #expect(abs(trip.topSpeed - reference.topSpeed) < 0.001)
            #expect(abs(trip.bounds.minLatitude - reference.bounds.minLatitude) < 1e-9)
            #expect(abs(trip.bounds.maxLatitude - reference.bounds.maxLatitude) < 1e-9)
            let width = trip.bounds.maxLongitude - trip.bounds.minLongitude
            let expectedWidth = reference.bounds.maxLongitude - reference.bounds.minLongitude
            #expect(abs((width - expectedWidth).remainder(dividingBy: 360)) < 1e-9)
        }
    }

    /// Returns drives, walks, stops and pauses across the antimeridian, with jumps in place and time. Some of the points
    /// have no speed.
    private static func randomTrack(seed: UInt64) -> String {
        var generator = SeededGenerator(seed: seed)
        let speeds: [Double] = [0, 0, 0.4, 1.5, 9, 25]
        let steps: [Double] = [1, 5, 30]
        var seconds = 1_700_000_000.0
        var (latitude, longitude) = (46.0, 179.9)
        var text = "<gpx version=\"1.1\" xmlns:bg=\"https://backgrounder.example/gpx/1\"><trk><trkseg>\n"
        for _ in 0..<80 {
            let speed = speeds.randomElement(using: &generator) ?? 0
            let step = steps.randomElement(using: &generator) ?? 1
            let reports = Bool.random(using: &generator)
            let heading = Double.random(in: 0...6.28, using: &generator)
            let (north, east) = (speed * cos(heading) * step, speed * sin(heading) * step)
            if Int.random(in: 0..<5, using: &generator) == 0 { text += "</trkseg><trkseg>" }
            if Int.random(in: 0..<8, using: &generator) == 0 {
                seconds += Double.random(in: -300...1200, using: &generator).rounded()
            }
            for _ in 0..<Int.random(in: 5...(speed == 0 ? 1500 : 300), using: &generator) {
                seconds += step
                let noise = Double.random(in: -1...1, using: &generator)
                latitude += (north + noise) / 111_320
                longitude = (longitude + east / 77_000).remainder(dividingBy: 360)
                let time = ISO8601.string(Date(timeIntervalSince1970: seconds))
                text += "<trkpt lat=\"\(latitude)\" lon=\"\(longitude)\"><time>\(time)</time>"
                if reports { text += "<extensions><bg:speed>\(speed)</bg:speed></extensions>" }
                text += "</trkpt>\n"
            }
        }
        return text + "</trkseg></trk></gpx>"
    }

    private struct ReferenceTrip: Decodable {
        var start: Date
        var end: Date
        var distance: Double
        var movingTime: Double
        var topSpeed: Double
        var bounds: GeographicBounds
        var points: Int
    }

    private struct StoredPoint: Decodable {
        var latitude: Double
        var longitude: Double
        var speed: Double?
        var time: Int
        var segmentStart: Int

        var location: Location {
            Location(
                latitude: latitude,
                longitude: longitude,
                speed: speed,
                timestamp: Date(timeIntervalSince1970: Double(time) / 1000),
                segmentStart: segmentStart == 1 ? true : nil
            )
        }
    }
}
