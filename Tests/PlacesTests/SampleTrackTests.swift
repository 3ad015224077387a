import BackgrounderAPI
import Foundation
import Places
import SystemSupport
import Testing

/// The walk in tracks/city-walk.gpx, with three stops and errors of 5 m an axis that drift.
@Suite struct SampleTrackTests {
    private struct Walk {
        var fixes: [PlaceFix] = []

        init() throws {
            let path = URL(fileURLWithPath: "\(#filePath)/../../../tracks/city-walk.gpx").standardizedFileURL
            let text = try String(contentsOf: path, encoding: .utf8)
            for (second, point) in text.components(separatedBy: "<trkpt ").dropFirst().enumerated() {
                func number(after start: String, before end: Character) -> Double? {
                    point.range(of: start).flatMap { Double(point[$0.upperBound...].prefix { $0 != end }) }
                }
                fixes.append(
                    PlaceFix(
                        timestamp: Date(timeIntervalSince1970: 1_800_000_000 + Double(second)),
                        arrival: MonotonicTime(seconds: Double(second)),
                        coordinate: Coordinate(
                            latitude: try #require(number(after: "lat=\"", before: "\"")),
                            longitude: try #require(number(after: "lon=\"", before: "\""))
                        ),
                        accuracy: number(after: "<b:accuracy>", before: "<"),
                        speed: number(after: "<b:speed>", before: "<"),
                        course: number(after: "<b:course>", before: "<")
                    )
                )
            }
        }

        /// The mean position of a stop.
        func center(_ seconds: Range<Int>) -> Coordinate {
            let coordinates = fixes[seconds].map(\.coordinate)
            return Coordinate(
                latitude: coordinates.reduce(0) { $0 + $1.latitude } / Double(coordinates.count),
                longitude: coordinates.reduce(0) { $0 + $1.longitude } / Double(coordinates.count)
            )
        }
    }

    @Test(arguments: [true, false])
    func `each stop of a walk is entered and left once`(hasSpeed: Bool) throws {
        let walk = try Walk()
        #expect(walk.fixes.count == 1_500)
        var monitor = PlaceMonitor(watches: [.dwell(60)])
        let places = try [140..<370, 585..<755, 975..<1_325].enumerated().map { id, seconds in
            try MonitoredPlace(
                id: Int64(id),
                shape: .circle(center: walk.center(seconds), radius: 25),
                watches: [.dwell(60)]
            )
        }
        let start = try #require(Position(walk.fixes[0].coordinate))
        monitor.complete(PlaceSearch(around: start, radius: 100_000), found: [])
        monitor.load(places, for: [])
        var decisions: [PlaceDecision] = []
        for var fix in walk.fixes where (fix.accuracy ?? 0) <= 30 {
            if !hasSpeed { (fix.speed, fix.course) = (nil, nil) }
            decisions += monitor.receive(fix)
        }
        #expect(decisions.map(\.placeId) == [0, 0, 0, 1, 1, 1, 2, 2, 2])
        #expect(decisions.map(\.event) == [.enter, .dwell, .leave, .enter, .dwell, .leave, .enter, .dwell, .leave])
    }
}
