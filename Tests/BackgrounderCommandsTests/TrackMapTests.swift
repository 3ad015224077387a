import BackgrounderAPI
import FoundationEssentials
import SystemSupport
import TestSupport
import Testing

@testable import BackgrounderCommands

@Suite struct TrackMapTests {
    private func path(_ points: [(Double, Double)], speed: Double? = 10, starts: Set<Int> = []) -> TrackPath {
        var path = TrackPath()
        for (index, point) in points.enumerated() {
            path.append(
                Location(
                    latitude: point.0,
                    longitude: point.1,
                    speed: speed,
                    timestamp: Date(timeIntervalSince1970: Double(index)),
                    segmentStart: starts.contains(index) ? true : nil
                )
            )
        }
        return path
    }

    private func draw(_ path: TrackPath) throws -> XMLTree {
        try XMLTree.parse(try #require(TrackMap(path: path, title: "Trip 1").render()))
    }

    /// The centre of a marker.
    private func place(_ name: String, _ svg: XMLTree) throws -> (x: Double, y: Double) {
        let circle = try #require(svg.children.first { $0.attributes["id"] == name }?["circle"])
        return (
            try #require(circle.attributes["cx"].flatMap(Double.init)),
            try #require(circle.attributes["cy"].flatMap(Double.init))
        )
    }

    @Test func `north is up, east is right, and a square at 60° of latitude stays square`() throws {
        // On the ground at 60° the distances to the east and to the north are equal.
        let svg = try draw(path([(60, 10), (60.01, 10.02)]))
        let (start, end) = (try place("start", svg), try place("end", svg))
        #expect(end.x > start.x)
        #expect(end.y < start.y)
        #expect(abs((end.x - start.x) / (start.y - end.y) - 1) < 0.02)
    }

    @Test(arguments: [0.0, 47, -70]) func `the scale bar is as long as its label says`(latitude: Double) throws {
        let path = path([(latitude, 0), (latitude, 0.02)])
        let svg = try draw(path)
        let bar = try #require(svg.children.first { $0.attributes["id"] == "scale" })
        let drawn = try #require(bar["path"]?.attributes["d"]?.split(separator: "h").last?.split(separator: "v").first)
        let label = try #require(bar["text"]?.text).split(separator: " ")
        let metres = try #require(Double(label[0])) * (label[1] == "km" ? 1000 : 1)
        let (start, end) = (try place("start", svg), try place("end", svg))
        let pixels = try #require(Double(drawn))
        #expect(abs(path.length / (end.x - start.x) * pixels - metres) < metres * 0.01)
    }

    @Test func `lengths are measured on the WGS84 ellipsoid`() {
        // Degrees at the equator and along a meridian, from the ellipsoid's axes.
        #expect(abs(path([(0, 0), (0, 1)]).length - 111_319.49) < 0.1)
        #expect(abs(path([(44.5, 0), (45.5, 0)]).length - 111_131.75) < 5)
    }

    @Test func `a gap between segments is neither drawn nor counted`() throws {
        let path = path([(0, 0), (0, 0.001), (0, 1), (0, 1.001)], starts: [2])
        #expect(abs(path.length - 222.6) < 0.2)
        let casing = try #require(try draw(path).children.first { $0.attributes["class"] == "casing" })
        #expect(casing.attributes["d"]?.filter { $0 == "M" }.count == 2)
    }

    @Test func `a track across the antimeridian takes the short way`() throws {
        let path = path([(0, 179.999), (0, -179.999)])
        #expect(abs(path.length - 222.6) < 0.2)
        let box = try #require(path.bounds)
        #expect(box.east - box.west < 300)
    }

    @Test func `each stretch has the colour of its speed, or grey if the speed is unknown`() throws {
        var path = TrackPath()
        for (index, speed) in [nil, 1.0, 1, 20].enumerated() {
            path.append(
                Location(
                    latitude: 0,
                    longitude: Double(index) / 1000,
                    speed: speed,
                    timestamp: Date(timeIntervalSince1970: 0)
                )
            )
        }
        let lines = try draw(path).children.filter { $0.attributes["class"] == "line" }
        #expect(lines.compactMap { $0.attributes["stroke"] } == [SpeedScale.colours[0], SpeedScale.colours[3]])
        #expect(SpeedScale(top: 20).colour(nil) == SpeedScale.unknownColour)
        #expect(SpeedScale(top: 20).step == 20)
        #expect(SpeedScale(top: 0).colour(0) == SpeedScale.colours[0])
        #expect(SpeedScale(top: 1e308).colour(1e308) == SpeedScale.colours[5])
    }

    @Test func `the top speed is the highest reported speed, or is calculated if none was reported`() throws {
        var path = TrackPath()
        for (index, speed) in [1.0, nil, 2].enumerated() {
            path.append(
                Location(
                    latitude: 0,
                    longitude: Double(index) / 1000,
                    speed: speed,
                    timestamp: Date(timeIntervalSince1970: Double(index))
                )
            )
        }
        #expect(path.topSpeed == 2)
        let summary = try #require(try draw(path).children.first { $0.attributes["class"] == "note" }?.text)
        #expect(summary.hasSuffix("up to 7 km/h"), "\(summary)")
        let silent = try #require(self.path([(0, 0), (0, 0.001)], speed: nil).topSpeed)
        #expect(abs(silent - 111.3) < 0.1)
    }

    @Test func `one point, two points at one place and two opposite poles are drawn`() throws {
        for points in [[(1.0, 2.0)], [(1, 2), (1, 2)], [(90, 0), (-90, 0)]] {
            let svg = try draw(path(points, speed: nil))
            _ = try place("start", svg)
        }
        #expect(TrackMap(path: TrackPath(), title: "").render() == nil)
    }

    @Test func `a long track is thinned to bounded memory and file size and keeps its last point`() throws {
        var path = TrackPath()
        var generator = SeededGenerator(seed: 4)
        var place = (latitude: 47.0, longitude: 8.0)
        var most = 0
        for index in 0..<300_000 {
            place.latitude += Double.random(in: -0.0001...0.00011, using: &generator)
            place.longitude += Double.random(in: -0.0001...0.00011, using: &generator)
            path.append(
                Location(
                    latitude: place.latitude,
                    longitude: place.longitude,
                    speed: Double.random(in: 0...30, using: &generator),
                    timestamp: Date(timeIntervalSince1970: Double(index)),
                    segmentStart: index % 10_000 == 0 ? true : nil
                )
            )
            most = max(most, path.vertices.count)
        }
        #expect(most <= TrackPath.capacity + 1)
        #expect(path.vertices.count > TrackPath.capacity / 10)
        #expect(path.count == 300_000)
        let svg = try #require(TrackMap(path: path, title: "").render())
        #expect(svg.utf8.count < 3_000_000)
        let last = try #require(path.vertices.last)
        #expect(abs(last.x - place.longitude * .pi / 180 * 6_378_137) < 0.01)
    }

    @Test func `a track with more segments than the capacity stays bounded`() {
        var path = TrackPath()
        for index in 0..<100_000 {
            path.append(
                Location(
                    latitude: 0,
                    longitude: Double(index % 100) / 1000,
                    timestamp: Date(timeIntervalSince1970: Double(index)),
                    segmentStart: true
                )
            )
        }
        #expect(path.vertices.count <= TrackPath.capacity + 1)
    }

    @Test func `round numbers are 1, 2 or 5 times a power of ten`() {
        #expect([0.3, 1, 1.1, 3, 7, 20, 21, 999].map(niceCeiling) == [0.5, 1, 2, 5, 10, 20, 50, 1000])
    }
}
