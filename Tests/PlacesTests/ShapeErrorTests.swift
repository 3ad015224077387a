import BackgrounderAPI
import Places
import PlacesSimulation
import TestSupport
import Testing

@Suite struct ShapeErrorTests {
    private static let center = Coordinate(latitude: 48, longitude: 11)

    private static func ring(_ corners: [(Double, Double)]) -> [Coordinate] {
        corners.map { Coordinate(latitude: 48 + $0.1 / 1_000, longitude: 11 + $0.0 / 1_000) }
    }

    private static let square = ring([(0, 0), (10, 0), (10, 10), (0, 10)])

    private static func expect(
        _ message: String,
        _ shape: PlaceShape,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: ShapeError.self, sourceLocation: sourceLocation) { try Shape(shape) }
        #expect(error?.description == message, sourceLocation: sourceLocation)
    }

    @Test(arguments: [0, -5, .nan, .infinity, 1_000_001] as [Double])
    func `a radius must be above 0 and at most 1,000 km`(radius: Double) {
        Self.expect(
            "the radius is \(radius) m; give one above 0 m and up to 1000000 m",
            .circle(center: Self.center, radius: radius)
        )
    }

    @Test(arguments: [0, -5, .nan, .infinity, 100_001] as [Double])
    func `a width must be above 0 and at most 100 km`(width: Double) {
        Self.expect(
            "the width is \(width) m; give one above 0 m and up to 100000 m",
            .line(points: Self.square, width: width)
        )
    }

    @Test(arguments: [(91, 0), (-90.5, 0), (.nan, 0), (0, 181), (0, -180.5), (0, .infinity)] as [(Double, Double)])
    func `a coordinate must be in range`(latitude: Double, longitude: Double) {
        let wrong = Coordinate(latitude: latitude, longitude: longitude)
        let rest =
            "is latitude \(latitude), longitude \(longitude); latitudes go from -90 to 90, longitudes from -180 to 180"
        Self.expect("the centre \(rest)", .circle(center: wrong, radius: 5))
        Self.expect("position 2 of the line \(rest)", .line(points: [Self.center, wrong], width: 5))
        Self.expect("position 4 of ring 2 \(rest)", .polygon(rings: [Self.square, Self.square.dropLast() + [wrong]]))
    }

    @Test func `a polygon needs a ring, a ring three positions, a line two`() {
        Self.expect("the polygon has no ring; give at least three positions", .polygon(rings: []))
        Self.expect(
            "ring 2 has 2 different positions; give at least 3",
            .polygon(rings: [Self.square, [Self.square[0], Self.square[1], Self.square[1], Self.square[0]]])
        )
        Self.expect("ring 1 has 0 different positions; give at least 3", .polygon(rings: [[]]))
        Self.expect(
            "the line has 1 different positions; give at least 2",
            .line(points: [Self.center, Self.center], width: 5)
        )
    }

    @Test func `a ring needs an area`() {
        Self.expect(
            "ring 1 has no area; its positions lie on one line, so use a line with a width",
            .polygon(rings: [[Self.center, Self.center.moved(10, course: 0), Self.center.moved(5, course: 0)]])
        )
    }

    @Test func `a shape has at most 100,000 positions`() {
        let ring = (0...100_000).map { Self.center.moved(1_000, course: Double($0) / 300) }
        let message = "the shape has 100001 positions; simplify it to at most 100000"
        Self.expect(message, .polygon(rings: [ring]))
        Self.expect(message, .line(points: ring, width: 10))
    }

    @Test func `a polygon has at most 10,000 rings`() {
        Self.expect(
            "the polygon has 10001 rings; leave out small ones, up to 10000 may stay",
            .polygon(rings: Array(repeating: Self.square, count: 10_001))
        )
    }

    @Test func `a shape reaches at most 4,000 km`() {
        let message = "the shape reaches more than 4000 km from its centre; split it into several places"
        let corners = [(0.0, -60.0), (60, 0), (0, 60)].map { Coordinate(latitude: $0.0, longitude: $0.1) }
        Self.expect(message, .polygon(rings: [corners]))
        Self.expect(message, .line(points: corners, width: 10))
        let opposite = [Self.center, Coordinate(latitude: -48, longitude: -169)]
        Self.expect(message, .line(points: opposite, width: 10))
    }

    @Test(
        arguments: [
            [(0, 0), (10, 10), (10, 0), (0, 10)],  // a bow tie
            [(0, 0), (10, 0), (10, 10), (5, 0), (0, 10)],  // touches its own edge
            [(0, 0), (10, 0), (5, 5), (10, 10), (0, 10), (5, 5)],  // touches itself at a corner
            [(0, 0), (10, 0), (10, 10), (10, 20), (10, 10), (0, 10)],  // a spike
        ] as [[(Double, Double)]]
    )
    func `a ring that meets itself is refused`(corners: [(Double, Double)]) {
        let error = #expect(throws: ShapeError.self) { try Shape(.polygon(rings: [Self.ring(corners)])) }
        #expect(error?.description.hasPrefix("ring 1 crosses or touches itself near latitude 48") == true)
        #expect(error?.description.hasSuffix("; correct it so that edges do not meet") == true)
    }

    @Test(
        arguments: [
            [(5, 5), (15, 5), (15, 6)],  // crosses edges
            [(0, 0), (10, 0), (5, -5)],  // shares an edge
            [(0, 0), (10, 10), (15, -15)],  // passes through two corners
        ] as [[(Double, Double)]]
    )
    func `rings that cross or share an edge are refused`(corners: [(Double, Double)]) {
        let error = #expect(throws: ShapeError.self) {
            try Shape(.polygon(rings: [Self.square, Self.ring(corners)]))
        }
        #expect(error?.description.hasPrefix("rings 1 and 2 cross or share an edge near latitude 48") == true)
    }

    @Test func `a ring with edges side by side everywhere is refused in bounded time`() {
        let teeth: [(Double, Double)] = (0..<20_000).flatMap { index in
            let east = Double(index) / 1_000
            return [(east, 0.0), (east + 10.0005, 10.0)]
        }
        let ring = Self.ring(teeth + [(30, 20), (-10, 20)])
        Self.expect(
            "too many edges lie side by side to check them for crossings; simplify the shape",
            .polygon(rings: [ring])
        )
    }

    @Test func `a ring of 100,000 positions is accepted`() throws {
        let ring = (0..<100_000).map { index in
            Self.center.moved(20_000 + 100 * Double(index % 7), course: 360 * Double(index) / 100_000)
        }
        #expect(abs(try Shape(.polygon(rings: [ring])).radius - 20_300) < 100)
    }

    @Test func `a hole must lie directly inside its polygon`() throws {
        let hole = Self.ring([(2, 2), (4, 2), (4, 4)])
        let inHole = Self.ring([(3, 2.5), (3.5, 2.5), (3.5, 3)])
        let outside = Self.ring([(20, 20), (24, 20), (24, 24)])
        try Shape.check(polygons: [[Self.square, hole], [inHole], [outside]])
        let message = "is a hole that is not directly inside the first ring; move or remove it"
        let other = Self.ring([(6, 6), (8, 6), (8, 8)])
        let cases: [(polygons: [[[Coordinate]]], expected: String)] = [
            ([[Self.square, outside]], "ring 2 of polygon 1 \(message)"),
            ([[Self.square, hole, inHole]], "ring 3 of polygon 1 \(message)"),
            ([[outside], [Self.square, hole], [inHole, other]], "ring 2 of polygon 3 \(message)"),
            ([[Self.square], [hole]], "polygon 2 lies inside another polygon of the same place; remove one of them"),
        ]
        for (polygons, expected) in cases {
            let error = #expect(throws: ShapeError.self) { try Shape.check(polygons: polygons) }
            #expect(error?.description == expected)
        }
    }
}
