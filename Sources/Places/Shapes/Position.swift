package import BackgrounderAPI
import Glibc

/// A position on the WGS84 ellipsoid, prepared for distances and projections.
///
/// It consists of vectors, which have no seam at the poles or at the antimeridian.
package struct Position: Hashable, Sendable {
    /// The vector from the centre of the Earth.
    let point: Vector
    /// The unit vector that points up.
    let up: Vector

    /// Creates a position; `nil` unless latitude and longitude are in range.
    package init?(_ coordinate: Coordinate) {
        guard (-90...90).contains(coordinate.latitude), (-180...180).contains(coordinate.longitude) else { return nil }
        // One position, one vector: -180 and 180 are the same meridian, and a pole has every longitude.
        let isPole = abs(coordinate.latitude) == 90
        let longitude = isPole ? 0 : coordinate.longitude == 180 ? -180 : coordinate.longitude
        let (phi, lambda) = (coordinate.latitude * .pi / 180, longitude * .pi / 180)
        let cosine = isPole ? 0 : cos(phi)
        self.init(up: Vector(x: cosine * cos(lambda), y: cosine * sin(lambda), z: sin(phi)))
    }

    /// Creates the position at which `up`, a unit vector, points up.
    init(up: Vector) {
        self.up = up
        let scaled = Vector(
            x: Ellipsoid.equatorSquared * up.x,
            y: Ellipsoid.equatorSquared * up.y,
            z: Ellipsoid.poleSquared * up.z
        )
        point = (1 / scaled.dot(up).squareRoot()) * scaled
    }

    /// Creates the position in the direction of `vector` from the centre of the Earth.
    init(towards vector: Vector) {
        let scaled = Vector(
            x: vector.x / Ellipsoid.equatorSquared,
            y: vector.y / Ellipsoid.equatorSquared,
            z: vector.z / Ellipsoid.poleSquared
        )
        self.init(up: (1 / scaled.length) * scaled)
    }

    /// The latitude and longitude in degrees.
    package var coordinate: Coordinate {
        Coordinate(
            latitude: atan2(up.z, hypot(up.x, up.y)) * 180 / .pi,
            longitude: up.x == 0 && up.y == 0 ? 0 : atan2(up.y, up.x) * 180 / .pi
        )
    }

    /// Returns the length of the shortest line to `other` in metres.
    ///
    /// The arc over the chord, with the ellipsoid's radius of curvature in the middle of the line and in its direction. The error
    /// is below 1 mm up to 300 km, 3 cm up to 1,000 km, 30 m up to 4,000 km, and 5 % up to the antipodes.
    package func distance(to other: Position) -> Double {
        let chord = other.point - point
        let length = chord.length
        guard length > 2_000 else {
            return length * (1 + length * length / (24 * Ellipsoid.equator * Ellipsoid.pole))
        }
        let radius = Ellipsoid.radius(of: chord, length, up: up + other.up)
        return 2 * radius * asin(min(1, length / (2 * radius)))
    }

    /// Returns the position on the line to `other`, at `fraction` of its length.
    package func interpolated(to other: Position, fraction: Double) -> Position {
        let vector = up + fraction * (other.up - up)
        return Position(up: (1 / vector.length) * vector)
    }

    /// Returns the course in degrees that leads to `other`; 0 if the two are the same.
    package func course(to other: Position) -> Double {
        let plane = TangentPlane(at: self)
        let chord = other.point - point
        let (east, north) = (chord.dot(plane.east), chord.dot(plane.north))
        guard east != 0 || north != 0 else { return 0 }
        let degrees = atan2(east, north) * 180 / .pi
        return degrees < 0 ? degrees + 360 : degrees
    }
}

/// The WGS84 ellipsoid, in metres.
enum Ellipsoid {
    static let equator = 6_378_137.0
    static let pole = 6_378_137.0 * (1 - 1 / 298.257223563)
    static let equatorSquared = equator * equator
    static let poleSquared = pole * pole
    static let eccentricitySquared = 1 - poleSquared / equatorSquared

    /// Returns the radius of curvature in the direction of `chord`, a line of the given length (Euler's theorem).
    ///
    /// - Parameter up: the direction up in the middle of the line; of any length.
    fileprivate static func radius(of chord: Vector, _ length: Double, up: Vector) -> Double {
        // Antipodes have no middle.
        let sine = up.length > 0 ? up.z / up.length : 0
        let weight = 1 - eccentricitySquared * sine * sine
        let primeVertical = equator / weight.squareRoot()
        let meridional = primeVertical * (1 - eccentricitySquared) / weight
        let cosineSquared = 1 - sine * sine
        // At a pole the two radii are equal.
        guard cosineSquared > 1e-12 else { return meridional }
        let north = chord.z / length
        let share = min(1, north * north / cosineSquared)
        return 1 / (share / meridional + (1 - share) / primeVertical)
    }
}
