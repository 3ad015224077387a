package import BackgrounderAPI

extension PlaceShape {
    /// The centre of a circle, the mean position of an area's outer ring, or the middle position of a line. Of an invalid shape, its
    /// first position.
    package var middle: Coordinate {
        switch self {
        case .circle(let center, _): center
        case .polygon(let rings): Self.mean(of: rings.first ?? [])
        case .line(let points, _): points.isEmpty ? Self.mean(of: []) : points[points.count / 2]
        }
    }

    private static func mean(of positions: [Coordinate]) -> Coordinate {
        let sum = positions.compactMap { Position($0)?.point }.reduce(Vector(x: 0, y: 0, z: 0), +)
        let first = positions.first ?? Coordinate(latitude: 0, longitude: 0)
        return sum.length > 0 ? Position(towards: sum).coordinate : first
    }
}
