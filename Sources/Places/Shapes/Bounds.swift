package import BackgrounderAPI
import Glibc

extension GeographicBounds {
    /// The shortest degree of latitude, in metres (at the equator).
    private static let shortestDegree = 110_574.0
    /// The smallest radius of curvature, in metres.
    private static let smallestRadius = 6_335_439.0

    /// Creates a box that contains all positions within `distance` metres of `center`.
    package init(around center: Coordinate, within distance: Double) {
        self.init(
            minLatitude: center.latitude,
            minLongitude: center.longitude,
            maxLatitude: center.latitude,
            maxLongitude: center.longitude
        )
        grow(by: distance)
    }

    /// Creates the box of the arcs between consecutive `positions` of each part.
    init(of outline: Outline, isArea: Bool) {
        let center = outline.plane.origin.coordinate
        var (south, north, west, east) = (Double.infinity, -Double.infinity, Double.infinity, -Double.infinity)
        var passesPole = false
        for part in outline.parts {
            var previous: (position: Position, longitude: Double)?
            for index in part {
                let position = Position(towards: outline.plane.vector(to: outline.points[index]))
                let coordinate = position.coordinate
                // A pole has every longitude; that of its neighbours will do.
                let isPole = abs(coordinate.latitude) > 89.999_999
                let reference = previous?.longitude ?? center.longitude
                let step = isPole ? 0 : (coordinate.longitude - reference).remainder(dividingBy: 360)
                if let previous {
                    if abs(step) > 179.999_999, abs(previous.position.up.z) < 1 { passesPole = true }
                    for latitude in Self.turningPoints(from: previous.position, to: position) {
                        south = min(south, latitude)
                        north = max(north, latitude)
                    }
                }
                let longitude = reference + step
                south = min(south, coordinate.latitude)
                north = max(north, coordinate.latitude)
                west = min(west, longitude)
                east = max(east, longitude)
                previous = (position, longitude)
            }
        }
        func contains(latitude: Double) -> Bool {
            guard isArea, let pole = Position(Coordinate(latitude: latitude, longitude: 0)) else { return false }
            return outline.contains(pole)
        }
        if contains(latitude: 90) { (north, passesPole) = (90, true) }
        if contains(latitude: -90) { (south, passesPole) = (-90, true) }
        let isRound = passesPole || east - west >= 360 || north > 89.999_999 || south < -89.999_999
        self.init(
            minLatitude: max(-90, south),
            minLongitude: isRound ? -180 : west.normalizedLongitude,
            maxLatitude: min(90, north),
            maxLongitude: isRound ? 180 : east.normalizedLongitude
        )
        // Rounding errors, and those of the arcs: they are not exactly the shortest lines.
        grow(by: 0.01)
    }

    /// Returns the latitude of the northern or southern turning point of an arc, if it has one between its ends.
    private static func turningPoints(from start: Position, to end: Position) -> [Double] {
        let normal = start.point.cross(end.point)
        let squared = normal.dot(normal)
        guard squared > 0 else { return [] }
        let top = Vector(
            x: -normal.x * normal.z / squared,
            y: -normal.y * normal.z / squared,
            z: 1 - normal.z * normal.z / squared
        )
        guard top.length > 1e-9 else { return [] }
        return [1.0, -1.0].compactMap { sign in
            let turn = sign * top
            let isBetween = start.point.cross(turn).dot(normal) > 0 && turn.cross(end.point).dot(normal) > 0
            return isBetween ? Position(towards: turn).coordinate.latitude : nil
        }
    }

    /// Makes the box contain everything within `distance` metres of it.
    mutating func grow(by distance: Double) {
        minLatitude = max(-90, minLatitude - distance / Self.shortestDegree)
        maxLatitude = min(90, maxLatitude + distance / Self.shortestDegree)
        guard minLatitude > -90, maxLatitude < 90 else {
            (minLongitude, maxLongitude) = (-180, 180)
            return
        }
        // The meridian that touches a circle on a sphere.
        let cosine = cos(max(abs(minLatitude), abs(maxLatitude)) * .pi / 180)
        let sine = sin(min(.pi / 2, distance / Self.smallestRadius)) / cosine
        var width = maxLongitude - minLongitude
        if width < 0 { width += 360 }
        let extra = sine < 1 ? asin(sine) * 180 / .pi : 180
        guard width + 2 * extra < 360 else {
            (minLongitude, maxLongitude) = (-180, 180)
            return
        }
        minLongitude = (minLongitude - extra).normalizedLongitude
        maxLongitude = (maxLongitude + extra).normalizedLongitude
    }

    /// Returns a lower bound of the distance from `coordinate` in metres, 0 inside the box. The box does not contain the
    /// antimeridian.
    func distanceBound(from coordinate: Coordinate) -> Double {
        let north = max(0, minLatitude - coordinate.latitude, coordinate.latitude - maxLatitude)
        let top = max(abs(minLatitude), abs(maxLatitude), abs(coordinate.latitude))
        guard coordinate.longitude < minLongitude || coordinate.longitude > maxLongitude else {
            return 0.98 * north * Self.shortestDegree
        }
        var (west, east) = (minLongitude - coordinate.longitude, coordinate.longitude - maxLongitude)
        if west < 0 { west += 360 }
        if east < 0 { east += 360 }
        // Far away, or near a pole, the way along a parallel is not the shortest one.
        let difference = top > 85 ? 0 : min(10, west, east)
        return 0.98 * hypot(north, difference * cos(top * .pi / 180)) * Self.shortestDegree
    }

    /// The box, or its two parts if it contains the antimeridian, for an index that does not know longitudes.
    package var withoutAntimeridian: [GeographicBounds] {
        guard minLongitude > maxLongitude else { return [self] }
        var (western, eastern) = (self, self)
        western.minLongitude = -180
        eastern.maxLongitude = 180
        return [western, eastern]
    }
}

extension Double {
    /// The same meridian from -180 to 180.
    fileprivate var normalizedLongitude: Double {
        (-180...180).contains(self) ? self : remainder(dividingBy: 360)
    }
}
