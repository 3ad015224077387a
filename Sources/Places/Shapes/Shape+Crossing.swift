/// Where a straight way between two positions outside a shape crosses it.
package struct ShapeCrossing: Hashable, Sendable {
    /// The fraction of the way at which it first enters the shape.
    package var entry: Double
    /// The fraction at which it last leaves it.
    package var exit: Double
    /// The greatest signed distance to the boundary on the way, in metres.
    package var depth: Double
}

extension Shape {
    /// Returns where the way from `start` to `end` crosses the shape; `nil` if it does not, or if an end is inside.
    ///
    /// It advances by the distance to the boundary, which is never farther than the boundary itself (sphere tracing). A crossing
    /// of less than 0.25 m, or of a 2,000th of the way, may be missed.
    ///
    /// - Parameters:
    ///   - start, end: positions at most 100 km apart.
    package func crossing(from start: Position, to end: Position) -> ShapeCrossing? {
        let length = start.distance(to: end)
        func depth(at fraction: Double) -> Double {
            signedDistance(from: TangentPosition(start.interpolated(to: end, fraction: fraction)))
        }
        let (atStart, atEnd) = (depth(at: 0), depth(at: 1))
        guard length > 0, atStart < 0, atEnd < 0, atStart + atEnd > -length else { return nil }
        let shortestStep = max(0.25, length / 2_000)
        /// Returns the fraction of the boundary, coming from outside at `from`.
        func boundary(from: Double, _ distance: Double, towards direction: Double) -> Double? {
            var (outside, distance) = (from, distance)
            while true {
                let next = outside + direction * max(-distance * 0.999, shortestStep) / length
                guard (0...1).contains(next) else { return nil }
                distance = depth(at: next)
                guard distance >= 0 else {
                    outside = next
                    continue
                }
                var inside = next
                while abs(inside - outside) * length > 0.01 {
                    let middle = (inside + outside) / 2
                    if depth(at: middle) >= 0 { inside = middle } else { outside = middle }
                }
                return inside
            }
        }
        guard let entry = boundary(from: 0, atStart, towards: 1), let exit = boundary(from: 1, atEnd, towards: -1),
            entry <= exit
        else { return nil }
        let samples = (0...8).map { depth(at: entry + (exit - entry) * Double($0) / 8) }
        return ShapeCrossing(entry: entry, exit: exit, depth: samples.max() ?? 0)
    }
}
