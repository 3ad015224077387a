/// A point of a plane, in metres east and north of its origin.
struct PlanePoint: Hashable, Sendable {
    var x: Double
    var y: Double
}

/// The plane that touches the ellipsoid at a position, onto which the surface is projected from the centre of the Earth.
///
/// Edges stay straight in it, wherever its origin is. A distance from the origin is too great by a third of its cube over the
/// square of the Earth's radius: by 8 mm at 10 km.
struct TangentPlane: Hashable, Sendable {
    let origin: Position
    let east: Vector
    let north: Vector
    /// The distance of the plane from the centre of the Earth.
    let height: Double
    /// How far north of the foot of the perpendicular from the centre of the Earth the origin is.
    let shift: Double

    init(at origin: Position) {
        self.origin = origin
        let up = origin.up
        let horizontal = (up.x * up.x + up.y * up.y).squareRoot()
        east = horizontal > 0 ? Vector(x: -up.y / horizontal, y: up.x / horizontal, z: 0) : Vector(x: 0, y: 1, z: 0)
        north = up.cross(east)
        height = origin.point.dot(up)
        shift = origin.point.dot(north)
    }

    /// Returns the image of the position in the direction of `vector`; `nil` for more than 84 degrees from the origin.
    func project(_ vector: Vector) -> PlanePoint? {
        let depth = vector.dot(origin.up)
        guard depth > 0.1 * vector.length else { return nil }
        let factor = height / depth
        return PlanePoint(x: factor * vector.dot(east), y: factor * vector.dot(north) - shift)
    }

    /// Returns the vector from the centre of the Earth to `point`.
    func vector(to point: PlanePoint) -> Vector {
        origin.point + point.x * east + point.y * north
    }
}

/// The projection from one plane onto another: a matrix, so that positions need no trigonometry.
struct PlaneProjection {
    /// The shares of x, y and 1 in the numerators east and north, and in the denominator.
    private let east: Vector
    private let north: Vector
    private let depth: Vector
    private let height: Double
    private let shift: Double

    init(from source: TangentPlane, to target: TangentPlane) {
        func row(_ axis: Vector) -> Vector {
            Vector(x: source.east.dot(axis), y: source.north.dot(axis), z: source.origin.point.dot(axis))
        }
        east = row(target.east)
        north = row(target.north)
        depth = row(target.origin.up)
        height = target.height
        shift = target.shift
    }

    /// Returns the image of `point`; `nil` near the horizon of the target and beyond it.
    func callAsFunction(_ point: PlanePoint) -> PlanePoint? {
        let down = depth.x * point.x + depth.y * point.y + depth.z
        guard down > 500_000 else { return nil }
        let factor = height / down
        return PlanePoint(
            x: factor * (east.x * point.x + east.y * point.y + east.z),
            y: factor * (north.x * point.x + north.y * point.y + north.z) - shift
        )
    }
}
