import BackgrounderAPI
import Glibc

/// A point of a route's shape near a position.
struct RouteMatch: Hashable, Sendable {
    /// Metres from the beginning of the shape.
    var along: Double
    /// Metres to the position.
    var distance: Double
    /// Metres of the position to the right of the shape.
    var right: Double
    /// The direction in which the shape continues, of length 1.
    var direction: Vector
    /// Whether the distance is less than at all points around.
    var isMinimum: Bool
}

/// The line of a route with its distances in metres.
///
/// Its edges are chords through the Earth of at most 1 km, which are 2 cm deep. So neither the antimeridian nor a pole is
/// special.
struct RouteShape: Sendable {
    /// All different from the one before.
    private let points: [Vector]
    /// Of each point, from the beginning.
    private let distances: [Double]
    /// Spheres around ``blockSize`` edges each.
    private let blocks: [(center: Vector, radius: Double)]

    /// Where the shape turns sharply, in metres from the beginning.
    private(set) var corners: [Double] = []

    private static let longestEdge = 1_000.0
    /// Positions that are closer in metres are one.
    private static let shortestEdge = 0.05
    private static let blockSize = 64

    var length: Double { distances[distances.count - 1] }

    /// Prepares a shape. `along` receives the distance of each coordinate.
    init(_ coordinates: [Coordinate], along: inout [Double]) throws(RouteError) {
        guard coordinates.count <= RouteLimits.positions else { throw .tooManyPositions(coordinates.count) }
        var points: [Vector] = []
        var distances: [Double] = []
        var last: Position?
        var length = 0.0
        for (index, coordinate) in coordinates.enumerated() {
            guard let position = Position(coordinate) else { throw .position(coordinate, position: index + 1) }
            if let start = last {
                let edge = start.distance(to: position)
                if edge < Self.shortestEdge {
                    along.append(length)
                    continue
                }
                guard length + edge <= RouteLimits.length else { throw .tooLong(metres: length + edge) }
                let pieces = (edge / Self.longestEdge).rounded(.up)
                for piece in stride(from: 1, to: pieces, by: 1) {
                    points.append(start.interpolated(to: position, fraction: piece / pieces).point)
                    distances.append(length + edge * piece / pieces)
                }
                length += edge
            }
            points.append(position.point)
            distances.append(length)
            along.append(length)
            last = position
        }
        guard points.count >= 2 else { throw .noLength(positions: coordinates.count) }
        self.points = points
        self.distances = distances
        blocks = stride(from: 0, to: points.count - 1, by: Self.blockSize).map { start in
            let members = points[start...min(start + Self.blockSize, points.count - 1)]
            let center = (1 / Double(members.count)) * members.reduce(Vector(x: 0, y: 0, z: 0), +)
            return (center, members.reduce(0) { max($0, ($1 - center).length) })
        }
        let reach = RouteRules.cornerLength / 2
        for distance in distances.dropFirst().dropLast() where distance > reach && distance < length - reach {
            guard distance - (corners.last ?? -.infinity) > RouteRules.cornerLength else { continue }
            let cosine = direction(at: distance - reach).dot(direction(at: distance + reach))
            if cosine < cos(RouteRules.cornerAngle * .pi / 180) { corners.append(distance) }
        }
    }

    /// Returns the nearest point of each edge within `limit` metres of `position`.
    ///
    /// - Parameters:
    ///   - range: the part of the shape to search, in metres from its beginning; nil for all of it.
    ///   - comparisons: how many edges may still be compared; negative afterwards if there were more.
    func matches(
        near position: Vector,
        up: Vector,
        within limit: Double,
        in range: ClosedRange<Double>? = nil,
        comparisons: inout Int
    ) -> [RouteMatch] {
        var matches: [RouteMatch] = []
        let first = range.map { self.edge(at: $0.lowerBound) } ?? 0
        let last = range.map { self.edge(at: $0.upperBound) } ?? points.count - 2
        // Whether the nearest point of the edge before was its end.
        var endedAtEnd = true
        var edge = first
        while edge <= last {
            let block = edge / Self.blockSize
            comparisons -= 1
            guard comparisons >= 0 else { return [] }
            if edge % Self.blockSize == 0 || edge == first {
                let (center, radius) = blocks[block]
                if (position - center).length > radius + limit {
                    edge = (block + 1) * Self.blockSize
                    endedAtEnd = false
                    continue
                }
            }
            let start = points[edge]
            let chord = points[edge + 1] - start
            let size = chord.length
            let length = distances[edge + 1] - distances[edge]
            let offset = position - start
            // Ends that the range cuts off.
            let low = range.map { max(0, min(1, ($0.lowerBound - distances[edge]) / length)) } ?? 0
            let high = range.map { max(low, min(1, ($0.upperBound - distances[edge]) / length)) } ?? 1
            let share = offset.dot(chord) / (size * size)
            let clamped = max(low, min(high, share))
            let distance = (offset - clamped * chord).length
            if share <= low, endedAtEnd, edge > first, let last = matches.indices.last, distance <= limit {
                // The corner between two edges, found as the end of the first one.
                matches[last].isMinimum = true
            }
            if distance <= limit {
                let direction = (1 / size) * chord
                matches.append(
                    RouteMatch(
                        along: distances[edge] + clamped * length,
                        distance: distance,
                        right: offset.dot(direction.cross(up)),
                        direction: direction,
                        isMinimum: share > low && share < high || share <= low && edge == first
                            || share >= high && edge == last
                    )
                )
            }
            endedAtEnd = share >= high
            edge += 1
        }
        return matches
    }

    /// Returns the points of the shape that are nearer to `position` than all points around, within `limit` metres.
    func minima(near position: Position, within limit: Double, comparisons: inout Int) -> [RouteMatch] {
        var found: [RouteMatch] = []
        let all = matches(near: position.point, up: position.up, within: limit, comparisons: &comparisons)
        for match in all where match.isMinimum {
            // The bends of a street, not another passage.
            if let last = found.last, match.along - last.along < 25, last.direction.dot(match.direction) > 0 {
                if match.distance < last.distance { found[found.count - 1] = match }
            } else {
                found.append(match)
            }
        }
        return found
    }

    /// Returns the distance of `position` from the shape in metres.
    func distance(from position: Position) -> Double {
        var least = Double.infinity
        for (block, sphere) in blocks.enumerated()
        where (position.point - sphere.center).length - sphere.radius < least {
            let start = block * Self.blockSize
            for edge in start..<min(start + Self.blockSize, points.count - 1) {
                let chord = points[edge + 1] - points[edge]
                let offset = position.point - points[edge]
                let share = max(0, min(1, offset.dot(chord) / chord.dot(chord)))
                least = min(least, (offset - share * chord).length)
            }
        }
        return least
    }

    /// Returns the direction at `along` metres, of length 1.
    func direction(at along: Double) -> Vector {
        let edge = edge(at: along)
        let chord = points[edge + 1] - points[edge]
        return (1 / chord.length) * chord
    }

    /// Returns the corners in a part of the shape.
    func corners(from start: Double, to end: Double) -> ArraySlice<Double> {
        var (low, high) = (0, corners.count)
        while low < high {
            let middle = (low + high) / 2
            if corners[middle] < start { low = middle + 1 } else { high = middle }
        }
        return corners[low...].prefix { $0 < end }
    }

    /// Returns the edge that contains `along`.
    private func edge(at along: Double) -> Int {
        var (low, high) = (0, points.count - 2)
        while low < high {
            let middle = (low + high + 1) / 2
            if distances[middle] <= along { low = middle } else { high = middle - 1 }
        }
        return low
    }
}
