import BackgrounderAPI
import Places
import PlacesSimulation
import Testing

@Suite struct ShapeTests {
    private static let center = Coordinate(latitude: 53.55, longitude: 10)

    /// Returns a square with sides of 2 × `half` metres around `center`.
    private static func square(_ half: Double, around center: Coordinate = center) -> [Coordinate] {
        [45.0, 135, 225, 315].map { center.moved(half * 2.0.squareRoot(), course: $0) }
    }

    private static func distance(_ shape: PlaceShape, from coordinate: Coordinate) throws -> Double {
        let position = try #require(Position(coordinate))
        return try Shape(shape).signedDistance(from: TangentPosition(position))
    }

    @Test func `antipodes have a distance`() throws {
        let poles = try [90.0, -90].map { try #require(Position(Coordinate(latitude: $0, longitude: 0))) }
        #expect(abs(poles[0].distance(to: poles[1]) - 20_004_000) < 1_000_000)
    }

    @Test func `a circle measures from its boundary, positive inside`() throws {
        let circle = PlaceShape.circle(center: Self.center, radius: 50)
        #expect(try Self.distance(circle, from: Self.center) == 50)
        #expect(abs(try Self.distance(circle, from: Self.center.moved(80, course: 10)) + 30) < 0.3)
    }

    @Test func `a hole is outside, and an area in the hole is inside`() throws {
        let rings = PlaceShape.polygon(rings: [Self.square(300), Self.square(200), Self.square(100)])
        for (distance, expected) in [(0.0, 100.0), (80, 20), (150, -50), (220, 20), (350, -50)] {
            let found = try Self.distance(rings, from: Self.center.moved(distance, course: 90))
            #expect(abs(found - expected) < 2, "\(distance) m east of the centre")
        }
    }

    @Test func `a line has half of its width on each side, and round ends`() throws {
        let line = PlaceShape.line(points: [Self.center, Self.center.moved(1_000, course: 90)], width: 30)
        #expect(abs(try Self.distance(line, from: Self.center.moved(10, course: 0)) - 5) < 0.1)
        #expect(abs(try Self.distance(line, from: Self.center.moved(40, course: 270)) + 25) < 0.2)
    }

    @Test func `a ring across the antimeridian takes the short way`() throws {
        let center = Coordinate(latitude: -17, longitude: 180)
        let ring = PlaceShape.polygon(rings: [Self.square(500, around: center)])
        #expect(abs(try Self.distance(ring, from: Coordinate(latitude: -17, longitude: -180)) - 500) < 3)
        #expect(abs(try Self.distance(ring, from: center.moved(600, course: 90)) + 100) < 3)
        let bounds = try Shape(ring).bounds
        #expect(bounds.minLongitude > bounds.maxLongitude)
        #expect(bounds.withoutAntimeridian.count == 2)
    }

    @Test func `a ring around a pole contains it, and its box has all longitudes`() throws {
        let ring = [0.0, 90, 180, -90].map { Coordinate(latitude: -89.9, longitude: $0) }
        let shape = try Shape(.polygon(rings: [ring]))
        let pole = try #require(Position(Coordinate(latitude: -90, longitude: 77)))
        #expect(abs(shape.signedDistance(from: TangentPosition(pole)) - 7_897) < 2)
        #expect(shape.bounds.minLatitude == -90)
        #expect(shape.bounds.minLongitude == -180)
        #expect(shape.bounds.maxLongitude == 180)
    }

    @Test func `the box of a long edge contains its northernmost point`() throws {
        let points = [Coordinate(latitude: 60, longitude: 0), Coordinate(latitude: 60, longitude: 40)]
        let bounds = try Shape(.line(points: points, width: 2)).bounds
        #expect(abs(bounds.maxLatitude - 61.5) < 0.1)
        #expect(bounds.minLatitude > 59.99)
    }

    @Test func `the radius of a polygon is that of a circle of the same area`() throws {
        let shape = try Shape(.polygon(rings: [Self.square(100), Self.square(50)]))
        #expect(abs(shape.radius - (30_000 / Double.pi).squareRoot()) < 0.5)
        #expect(try Shape(.line(points: Self.square(100), width: 24)).radius == 12)
    }

    @Test func `the last position of a ring may repeat the first one`() throws {
        let ring = Self.square(100)
        #expect(try Shape(.polygon(rings: [ring + [ring[0]]])) == Shape(.polygon(rings: [ring])))
    }

    @Test func `a way through a circle has an entry, an exit and a depth`() throws {
        let shape = try Shape(.circle(center: Self.center, radius: 30))
        let start = try #require(Position(Self.center.moved(100, course: 270)))
        let end = try #require(Position(Self.center.moved(200, course: 90)))
        let crossing = try #require(shape.crossing(from: start, to: end))
        #expect(abs(crossing.entry - 70.0 / 300) < 0.002)
        #expect(abs(crossing.exit - 130.0 / 300) < 0.002)
        #expect(abs(crossing.depth - 30) < 1)
    }

    @Test func `a way that ends before a circle, or passes beside it, does not cross it`() throws {
        let shape = try Shape(.circle(center: Self.center, radius: 30))
        let start = try #require(Position(Self.center.moved(100, course: 270)))
        for (distance, course) in [(40.0, 270.0), (100, 0), (10, 270)] {
            let end = try #require(Position(Self.center.moved(distance, course: course)))
            #expect(shape.crossing(from: start, to: end) == nil)
        }
    }

    @Test func `a hole may touch the ring around it at a point`() throws {
        let ring = Self.square(100)
        let hole = [ring[0], Self.center, Self.center.moved(30, course: 0)]
        #expect(throws: Never.self) { try Shape(.polygon(rings: [ring, hole])) }
    }

    @Test func `a position far away is as far as the circle around the shape`() throws {
        let distance = try Self.distance(
            .polygon(rings: [Self.square(1_000)]),
            from: Coordinate(latitude: -30, longitude: -170)
        )
        #expect(distance < -Shape.horizon)
    }
}
