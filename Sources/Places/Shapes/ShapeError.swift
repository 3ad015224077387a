package import BackgrounderAPI

/// The limits of a shape.
package enum ShapeLimits {
    /// The greatest radius of a circle, in metres.
    package static let radius = 1_000_000.0
    /// The greatest width of a line, in metres.
    package static let width = 100_000.0
    /// How far a polygon or a line may reach from its centre, in metres.
    package static let reach = 4_000_000.0
    /// The positions of a place in total.
    package static let positions = 100_000
    /// The rings of a place. The time to check them grows with their square.
    package static let rings = 10_000
    /// How many pairs of edges a check for crossings compares. Tuned: a coast of 100,000 positions needs 4 million.
    static let comparisons = 20_000_000
}

/// Why a shape is not valid. Rings and positions count from 1.
package enum ShapeError: Error, Hashable, Sendable {
    case radius(Double)
    case width(Double)
    /// `position` and `ring` are absent for the centre of a circle, `ring` for a line.
    case coordinate(Coordinate, position: Int?, ring: Int?)
    case noRings
    /// A ring with fewer than three different positions.
    case shortRing(ring: Int, positions: Int)
    /// A line with fewer than two different positions.
    case shortLine(positions: Int)
    case noArea(ring: Int)
    case tooManyPositions(Int)
    case tooManyRings(Int)
    case reachesTooFar
    /// Two edges cross or overlap, or a ring touches itself.
    case crossing(ring: Int, otherRing: Int, near: Coordinate)
    case tooManyNeighbours
    /// A hole that does not lie inside its polygon, or inside another hole of it.
    case misplacedHole(ring: Int, polygon: Int)
    /// A polygon inside another polygon of the same place.
    case nestedPolygon(polygon: Int)
    case course(Double)
    case tolerance(Double)
}

extension ShapeError: CustomStringConvertible {
    /// One line: the fault and its remedy.
    package var description: String {
        switch self {
        case .radius(let value):
            "the radius is \(value) m; give one above 0 m and up to \(Int(ShapeLimits.radius)) m"
        case .width(let value):
            "the width is \(value) m; give one above 0 m and up to \(Int(ShapeLimits.width)) m"
        case .coordinate(let value, let position, let ring):
            "\(Self.subject(position, ring)) is latitude \(value.latitude), longitude \(value.longitude); "
                + "latitudes go from -90 to 90, longitudes from -180 to 180"
        case .noRings: "the polygon has no ring; give at least three positions"
        case .shortRing(let ring, let positions):
            "ring \(ring) has \(positions) different positions; give at least 3"
        case .shortLine(let positions): "the line has \(positions) different positions; give at least 2"
        case .noArea(let ring): "ring \(ring) has no area; its positions lie on one line, so use a line with a width"
        case .tooManyPositions(let count):
            "the shape has \(count) positions; simplify it to at most \(ShapeLimits.positions)"
        case .tooManyRings(let count):
            "the polygon has \(count) rings; leave out small ones, up to \(ShapeLimits.rings) may stay"
        case .reachesTooFar:
            "the shape reaches more than \(Int(ShapeLimits.reach / 1000)) km from its centre; split it into several places"
        case .crossing(let ring, let other, let near):
            (ring == other
                ? "ring \(ring) crosses or touches itself" : "rings \(ring) and \(other) cross or share an edge")
                + " near \(Self.text(near)); correct it so that edges do not meet"
        case .tooManyNeighbours:
            "too many edges lie side by side to check them for crossings; simplify the shape"
        case .misplacedHole(let ring, let polygon):
            "ring \(ring) of polygon \(polygon) is a hole that is not directly inside the first ring; move or remove it"
        case .nestedPolygon(let polygon):
            "polygon \(polygon) lies inside another polygon of the same place; remove one of them"
        case .course(let value): "the course is \(value); give degrees from 0 to 360"
        case .tolerance(let value): "the tolerance of the course is \(value); give degrees from 0 to 180"
        }
    }

    private static func subject(_ position: Int?, _ ring: Int?) -> String {
        guard let position else { return "the centre" }
        return ring.map { "position \(position) of ring \($0)" } ?? "position \(position) of the line"
    }

    private static func text(_ coordinate: Coordinate) -> String {
        func rounded(_ value: Double) -> Double { (value * 1e5).rounded() / 1e5 }
        return "latitude \(rounded(coordinate.latitude)), longitude \(rounded(coordinate.longitude))"
    }
}
