import Glibc

/// A position on the map: Web Mercator, from (0, 0) in the northwest to (1, 1) in the southeast.
struct MapPoint: Hashable, Sendable {
    var x: Double
    var y: Double

    /// The latitude at which the map is square; positions beyond it are moved there.
    static let mostLatitude = 85.0511287798066

    init(x: Double, y: Double) {
        (self.x, self.y) = (x, y)
    }

    /// Projects a position in degrees.
    init(latitude: Double, longitude: Double) {
        let latitude = min(max(latitude, -Self.mostLatitude), Self.mostLatitude) * .pi / 180
        x = longitude / 360 + 0.5
        y = 0.5 - atanh(sin(latitude)) / (2 * .pi)
    }

    /// In degrees.
    var latitude: Double { asin(tanh((0.5 - y) * 2 * .pi)) * 180 / .pi }
    /// In degrees.
    var longitude: Double { (x - 0.5) * 360 }

    static func - (a: Self, b: Self) -> Self { Self(x: a.x - b.x, y: a.y - b.y) }

    /// The length of the vector to this point.
    var length: Double { (x * x + y * y).squareRoot() }

    /// Returns a positive number if `other` is clockwise of this vector, seen on a map with y to the south.
    func cross(_ other: Self) -> Double { x * other.y - y * other.x }
}

/// A part of the map.
package struct MapBox: Sendable {
    private let low: MapPoint
    private let high: MapPoint

    /// Creates a box; `nil` if a value is not in its range or a minimum is not below its maximum.
    package init?(minLongitude: Double, minLatitude: Double, maxLongitude: Double, maxLatitude: Double) {
        guard (-540...540).contains(minLongitude), minLongitude < maxLongitude, maxLongitude <= 540,
            minLatitude >= -90, minLatitude < maxLatitude, maxLatitude <= 90
        else { return nil }
        low = MapPoint(latitude: maxLatitude, longitude: minLongitude)
        high = MapPoint(latitude: minLatitude, longitude: maxLongitude)
    }

    /// Returns whether the box around the line from `a` to `b`, in one of the copies of the world, overlaps this box.
    func mayContain(_ a: MapPoint, _ b: MapPoint) -> Bool {
        guard max(a.y, b.y) >= low.y, min(a.y, b.y) <= high.y else { return false }
        let (west, east) = (min(a.x, b.x), max(a.x, b.x))
        return [-1.0, 0, 1].contains { east + $0 >= low.x && west + $0 <= high.x }
    }
}
