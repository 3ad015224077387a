/// A vector from the centre of the Earth, in metres, or a direction. The z axis points to the north pole.
struct Vector: Hashable, Sendable {
    var x: Double
    var y: Double
    var z: Double

    var length: Double { dot(self).squareRoot() }

    func dot(_ other: Vector) -> Double { x * other.x + y * other.y + z * other.z }

    func cross(_ other: Vector) -> Vector {
        Vector(x: y * other.z - z * other.y, y: z * other.x - x * other.z, z: x * other.y - y * other.x)
    }

    static func + (left: Vector, right: Vector) -> Vector {
        Vector(x: left.x + right.x, y: left.y + right.y, z: left.z + right.z)
    }

    static func - (left: Vector, right: Vector) -> Vector {
        Vector(x: left.x - right.x, y: left.y - right.y, z: left.z - right.z)
    }

    static func * (factor: Double, vector: Vector) -> Vector {
        Vector(x: factor * vector.x, y: factor * vector.y, z: factor * vector.z)
    }
}
