/// Simplifies one segment of a track while its points arrive, in constant memory.
///
/// Of the points it keeps some, so that every other point is within the tolerance of the line between the kept points before and after
/// it. A cone of directions from the last kept point passes close to all points since; a point that leaves it, or returns too far, ends
/// the line (J. Sklansky and V. Gonzalez, Fast polygonal approximation of digitized curves, 1980).
struct SegmentSimplifier {
    private enum State {
        case empty
        /// All points since `anchor` are close to it.
        case near(anchor: MapPoint, last: MapPoint)
        /// Directions between `left` and `right` are allowed; the farthest point is `reach` away.
        case cone(anchor: MapPoint, last: MapPoint, left: MapPoint, right: MapPoint, reach: Double)
    }

    /// The distance of a point from the direction of the line, and its distance beyond the end of the line. Both together are at most the
    /// tolerance.
    private let slack: Double
    private var state = State.empty

    /// Creates a simplifier.
    ///
    /// - Parameter tolerance: in units of the map.
    init(tolerance: Double) {
        slack = tolerance / 2.0.squareRoot()
    }

    /// Adds a point.
    ///
    /// - Returns: a point that is kept, if it is known now.
    mutating func add(_ point: MapPoint) -> MapPoint? {
        switch state {
        case .empty:
            state = .near(anchor: point, last: point)
            return point
        case .near(let anchor, _):
            state = Self.extended(anchor, point, slack)
            return nil
        case .cone(let anchor, let last, let left, let right, let reach):
            let way = point - anchor
            let distance = way.length
            let isInside = left.cross(way) >= 0 && way.cross(right) >= 0 && distance >= reach - slack
            guard isInside, distance > slack else {
                state = Self.extended(last, point, slack)
                return last
            }
            let (newLeft, newRight) = Self.directions(way, distance, slack)
            state = .cone(
                anchor: anchor,
                last: point,
                left: left.cross(newLeft) > 0 ? newLeft : left,
                right: newRight.cross(right) > 0 ? newRight : right,
                reach: max(reach, distance)
            )
            return nil
        }
    }

    /// Ends the segment.
    ///
    /// - Returns: its last point, if it is kept and was not returned yet.
    mutating func finish() -> MapPoint? {
        defer { state = .empty }
        switch state {
        case .empty: return nil
        case .near(let anchor, let last): return last == anchor ? nil : last
        case .cone(_, let last, _, _, _): return last
        }
    }

    private static func extended(_ anchor: MapPoint, _ point: MapPoint, _ slack: Double) -> State {
        let way = point - anchor
        let distance = way.length
        guard distance > slack else { return .near(anchor: anchor, last: point) }
        let (left, right) = directions(way, distance, slack)
        return .cone(anchor: anchor, last: point, left: left, right: right, reach: distance)
    }

    /// Returns the directions of the two tangents to the circle of radius `slack` around the point that is `way` away.
    private static func directions(_ way: MapPoint, _ distance: Double, _ slack: Double) -> (MapPoint, MapPoint) {
        let sine = slack / distance
        let cosine = (1 - sine * sine).squareRoot()
        return (
            MapPoint(x: way.x * cosine + way.y * sine, y: way.y * cosine - way.x * sine),
            MapPoint(x: way.x * cosine - way.y * sine, y: way.y * cosine + way.x * sine)
        )
    }
}
