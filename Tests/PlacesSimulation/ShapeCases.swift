package import BackgrounderAPI
import Glibc

/// A shape with positions and ways, for the distances and crossings between them.
package struct ShapeCase: Codable, Sendable {
    package var shape: PlaceShape
    package var positions: [Coordinate]
    /// Pairs of positions.
    package var ways: [[Coordinate]]
}

/// Random shapes all over the Earth; many are small, and many lie at a pole or across the antimeridian.
package enum ShapeCases {
    /// Returns `count` cases with 10 positions each.
    package static func random(count: Int, seed: UInt64) -> [ShapeCase] {
        var random = Randomness(seed: seed)
        return (0..<count).map { number in
            let center = Self.center(number, &random)
            let size = 10 * pow(10, random.uniform(0...(number % 10 == 9 ? 4.3 : 3)))
            let shape: PlaceShape =
                switch number % 4 {
                case 0: .circle(center: center, radius: size)
                case 1: .polygon(rings: rings(center, size, &random))
                case 2:
                    .polygon(
                        rings: (0..<3).flatMap { part in
                            rings(center.moved(3 * size, course: 120 * Double(part)), size, &random)
                        }
                    )
                default: .line(points: line(center, size, &random), width: size * random.uniform(0.01...0.5))
                }
            let positions = (0..<10).map { _ in
                center.moved(size * random.uniform(0...1) * random.uniform(0...6), course: random.uniform(0...360))
            }
            let length = min(size * random.uniform(0.5...6), 7_000)
            let course = random.uniform(0...360)
            let start = center.moved(min(length / 2, 2 * size), course: course)
            return ShapeCase(
                shape: shape,
                positions: positions,
                ways: [[start, start.moved(length, course: course + 180 + random.uniform(-40...40))]]
            )
        }
    }

    /// Returns rings of random positions, with repetitions. About half of them cross themselves.
    package static func randomRings(count: Int, seed: UInt64) -> [[Coordinate]] {
        var random = Randomness(seed: seed)
        return (0..<count).map { _ in
            let center = Coordinate(latitude: random.uniform(-70...70), longitude: random.uniform(-170...170))
            let places = (0..<12).map { _ in
                center.moved(random.uniform(10...1_000), course: random.uniform(0...360))
            }
            return (0..<Int.random(in: 3...6, using: &random)).map { _ in places[Int.random(in: 0..<12, using: &random)]
            }
        }
    }

    private static func center(_ number: Int, _ random: inout Randomness) -> Coordinate {
        switch number / 4 % 4 {
        case 0: Coordinate(latitude: random.uniform(-75...75), longitude: random.uniform(-0.1...0.1) + 180).normalized
        case 1:
            Coordinate(
                latitude: (Bool.random(using: &random) ? 1 : -1) * (90 - pow(10, random.uniform(-6...0.5))),
                longitude: random.uniform(-180...180)
            )
        default: Coordinate(latitude: random.uniform(-80...80), longitude: random.uniform(-180...180))
        }
    }

    /// Returns a star-shaped ring, in some cases with a hole and an area inside the hole.
    private static func rings(_ center: Coordinate, _ size: Double, _ random: inout Randomness) -> [[Coordinate]] {
        let depth = Int.random(in: 1...3, using: &random)
        return (0..<depth).map { level in
            let count = Int.random(in: 8...(level == 0 ? 80 : 12), using: &random)
            let scale = size * pow(0.2, Double(level))
            return (0..<count).map { index in
                let course = 360 * (Double(index) + random.uniform(-0.3...0.3)) / Double(count)
                return center.moved(scale * random.uniform(0.3...1), course: course)
            }
        }
    }

    private static func line(_ center: Coordinate, _ size: Double, _ random: inout Randomness) -> [Coordinate] {
        var points = [center]
        var course = random.uniform(0...360)
        for _ in 0..<Int.random(in: 1...40, using: &random) {
            course += random.uniform(-60...60)
            points.append(points[points.count - 1].moved(size * random.uniform(0.01...0.3), course: course))
        }
        return points
    }
}

extension Coordinate {
    /// Returns the position `distance` metres away on a sphere.
    package func moved(_ distance: Double, course: Double) -> Coordinate {
        let angle = distance / 6_371_000
        let (phi, alpha) = (latitude * .pi / 180, course * .pi / 180)
        let sine = sin(phi) * cos(angle) + cos(phi) * sin(angle) * cos(alpha)
        let east = atan2(sin(alpha) * sin(angle) * cos(phi), cos(angle) - sin(phi) * sine)
        return Coordinate(
            latitude: asin(min(1, max(-1, sine))) * 180 / .pi,
            longitude: longitude + east * 180 / .pi
        ).normalized
    }

    fileprivate var normalized: Coordinate {
        Coordinate(
            latitude: latitude,
            longitude: abs(longitude) <= 180 ? longitude : longitude.remainder(dividingBy: 360)
        )
    }
}
