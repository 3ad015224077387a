package import BackgrounderAPI

/// The limits of a route that is followed.
package enum RouteLimits {
    /// The visits of stops.
    package static let stops = 10_000
    /// The positions of the shape.
    package static let positions = 200_000
    /// The length in metres.
    package static let length = 10_000_000.0
    /// How far a stop may be from the shape, in metres.
    package static let stopDistance = 200.0
    /// How many pairs of a stop and an edge the search for the stops compares. Tuned: 10,000 stops along 200,000
    /// positions need 10 million.
    static let comparisons = 100_000_000
    /// The same for a fix.
    static let comparisonsOfFix = 1_000_000
    /// The places on the shape that are considered for a stop.
    static let candidates = 64
}

/// Why a route cannot be followed. Stops and positions count from 1.
package enum RouteError: Error, Hashable, Sendable {
    case tooFewStops(Int)
    case tooManyStops(Int)
    case tooManyPositions(Int)
    /// A position of the shape that is not on the Earth.
    case position(Coordinate, position: Int)
    /// A stop that is not on the Earth.
    case stop(Coordinate, stop: Int, name: String)
    /// The positions of the shape are the same, or there is only one.
    case noLength(positions: Int)
    case tooLong(metres: Double)
    /// A stop that is farther from the shape than ``RouteLimits/stopDistance``.
    case farStop(stop: Int, name: String, metres: Double)
    /// The shape does not pass the stops in their order.
    case order(stop: Int, name: String)
    /// The shape passes too many stops too often.
    case tooDense
    /// As many distances as positions are needed, finite and not decreasing.
    case shapeDistances(position: Int)
}

extension RouteError: CustomStringConvertible {
    /// One line: the fault and its remedy.
    package var description: String {
        switch self {
        case .tooFewStops(let count): "the route has \(count) stops; give at least 2"
        case .tooManyStops(let count): "the route has \(count) stops; split it, \(RouteLimits.stops) are possible"
        case .tooManyPositions(let count):
            "the shape has \(count) positions; simplify it to at most \(RouteLimits.positions)"
        case .position(let value, let position): "position \(position) of the shape is \(Self.text(value))"
        case .stop(let value, let stop, let name): "stop \(stop) (\(name)) is at \(Self.text(value))"
        case .noLength(let positions):
            "the shape has no length: its \(positions) positions are the same; give at least 2 different ones"
        case .tooLong(let metres):
            "the shape is \(Self.rounded(metres / 1000)) km long; split it, "
                + "\(Int(RouteLimits.length / 1000)) km are possible"
        case .farStop(let stop, let name, let metres):
            "stop \(stop) (\(name)) is \(Self.rounded(metres)) m from the shape; move it to within "
                + "\(Int(RouteLimits.stopDistance)) m, or correct the shape"
        case .order(let stop, let name):
            "the shape does not pass stop \(stop) (\(name)) after the stops before it; correct the order or the shape"
        case .tooDense: "the shape passes the stops too often to find their order; simplify it"
        case .shapeDistances(let position):
            "the distance of position \(position) of the shape is missing, not finite or lower than the one before; "
                + "correct or remove the distances"
        }
    }

    private static func text(_ value: Coordinate) -> String {
        "latitude \(value.latitude), longitude \(value.longitude); "
            + "latitudes go from -90 to 90, longitudes from -180 to 180"
    }

    /// Returns a number without digits that say nothing.
    private static func rounded(_ value: Double) -> String {
        value.isFinite && abs(value) < 1e15 ? "\(Int(value.rounded()))" : "\(value)"
    }
}
