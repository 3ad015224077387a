/// A rectangle of a plane, parallel to its axes.
struct PlaneBox: Hashable, Sendable {
    private(set) var minX = Double.infinity
    private(set) var minY = Double.infinity
    private(set) var maxX = -Double.infinity
    private(set) var maxY = -Double.infinity

    /// Creates the smallest box with `points`.
    init(_ points: some Sequence<PlanePoint>) {
        for point in points {
            minX = min(minX, point.x)
            minY = min(minY, point.y)
            maxX = max(maxX, point.x)
            maxY = max(maxY, point.y)
        }
    }

    func meets(_ other: PlaneBox) -> Bool {
        minX <= other.maxX && other.minX <= maxX && minY <= other.maxY && other.minY <= maxY
    }

    /// Returns the square of the distance from `point`; 0 inside.
    func squaredDistance(to point: PlanePoint) -> Double {
        let x = max(0, minX - point.x, point.x - maxX)
        let y = max(0, minY - point.y, point.y - maxY)
        return x * x + y * y
    }

    /// Returns whether a ray from `point` to the east may meet the box.
    func isEast(of point: PlanePoint) -> Bool { minY <= point.y && point.y <= maxY && point.x <= maxX }
}
