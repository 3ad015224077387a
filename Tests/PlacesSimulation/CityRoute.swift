import BackgrounderAPI
import Glibc
package import Places

/// A line through flat ground, with distances.
package struct GroundLine: Sendable {
    package private(set) var points: [GroundPoint]
    package private(set) var distances: [Double] = [0]

    package init(_ start: GroundPoint) { points = [start] }

    package var length: Double { distances[distances.count - 1] }
    var end: GroundPoint { points[points.count - 1] }

    /// Continues to `point` in a straight line.
    package mutating func move(to point: GroundPoint) {
        let edge = hypot(point.east - end.east, point.north - end.north)
        guard edge > 0.01 else { return }
        distances.append(length + edge)
        points.append(point)
    }

    /// Continues by so many metres in a direction in radians, clockwise from north.
    package mutating func move(_ metres: Double, heading: Double) {
        move(to: GroundPoint(end.east + metres * sin(heading), end.north + metres * cos(heading)))
    }

    /// Returns the point after so many metres, moved to the right, and the direction of length 1.
    package func point(at distance: Double, right: Double = 0) -> (point: GroundPoint, direction: GroundPoint) {
        var (low, high) = (0, points.count - 2)
        while low < high {
            let middle = (low + high + 1) / 2
            if distances[middle] <= distance { low = middle } else { high = middle - 1 }
        }
        let (start, end) = (points[low], points[low + 1])
        let edge = distances[low + 1] - distances[low]
        let direction = GroundPoint((end.east - start.east) / edge, (end.north - start.north) / edge)
        let along = distance - distances[low]
        return (
            GroundPoint(
                start.east + along * direction.east + right * direction.north,
                start.north + along * direction.north - right * direction.east
            ), direction
        )
    }
}

/// A bus route through a city: with bends and corners, dead ends into which the bus goes and returns, and loops that
/// visit a stop twice.
package struct CityRoute: Sendable {
    package private(set) var line = GroundLine(GroundPoint(0, 0))
    /// Of each stop, in metres from the beginning.
    package private(set) var stops: [Double] = []

    /// Metres of a stop to the right of the line.
    private static let side = 4.0

    /// Makes a route with about so many stops.
    package init(stops count: Int, _ random: inout Randomness) {
        let course = random.uniform(0...6)
        var heading = course
        line.move(40, heading: heading)
        stops = [20]
        while stops.count < count {
            let length = random.uniform(250...600)
            switch random.uniform(0...1) {
            case ..<0.08: deadEnd(heading: heading + .pi / 2, random.uniform(150...300))
            case ..<0.15: loop(heading: heading, random.uniform(120...200))
            case ..<0.4:
                // The streets of a grid, in the main direction on the whole.
                heading = heading == course ? course + (random.uniform(0...1) < 0.5 ? -1 : 1) * .pi / 2 : course
            default: break
            }
            straight(length, &heading, isBent: heading == course, &random)
        }
        line.move(30, heading: heading)
    }

    private mutating func straight(_ length: Double, _ heading: inout Double, isBent: Bool, _ random: inout Randomness)
    {
        let bend = isBent ? random.uniform(-0.15...0.15) : 0
        for _ in 0..<4 {
            line.move(length / 4, heading: heading + bend)
        }
        stops.append(line.length - random.uniform(40...100))
    }

    /// Goes into a side street with a stop at its end, and back.
    private mutating func deadEnd(heading: Double, _ length: Double) {
        let start = line.end
        line.move(length, heading: heading)
        stops.append(line.length - 10)
        line.move(to: start)
    }

    /// Goes around a block, with a stop before it that is visited again after it.
    private mutating func loop(heading: Double, _ side: Double) {
        let start = line.end
        line.move(60, heading: heading)
        stops.append(line.length - 30)
        line.move(100, heading: heading)
        for turn in 1...3 { line.move(turn == 2 ? 160 : side, heading: heading + Double(turn) * .pi / 2) }
        line.move(to: start)
        line.move(60, heading: heading)
        stops.append(line.length - 30)
        line.move(100, heading: heading)
    }

    /// The route as a file describes it.
    package var definition: RouteDefinition {
        RouteDefinition(
            name: "M1",
            stops: stops.enumerated().map { index, distance in
                RouteDefinition.Stop(
                    sequence: index + 1,
                    name: "Stop \(index + 1)",
                    coordinate: line.point(at: distance, right: Self.side).point.coordinate
                )
            },
            shape: line.points.map(\.coordinate)
        )
    }
}
