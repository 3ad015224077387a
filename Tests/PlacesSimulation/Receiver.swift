package import BackgrounderAPI
import FoundationEssentials
import Glibc
package import Places
import SystemSupport

/// A point of a flat piece of ground, in metres east and north of its origin.
package struct GroundPoint: Sendable {
    package var east: Double
    package var north: Double

    package init(_ east: Double, _ north: Double) {
        self.east = east
        self.north = north
    }

    /// The coordinate; within 0.1 % up to 10 km from the origin, which is in Hamburg.
    package var coordinate: Coordinate {
        Coordinate(latitude: 53.55 + north / 111_304, longitude: 10 + east / 66_264)
    }
}

/// A receiver whose errors drift: a first-order Gauss–Markov process for each axis.
///
/// Real receivers err like this. White noise, which peers test with, averages out and so flatters.
package struct Receiver: Sendable {
    /// The stated accuracy in metres: the root mean square of the error's length.
    private let accuracy: Double
    private let reportsSpeed: Bool
    private var error = (east: 0.0, north: 0.0)
    private var time: Double?
    private var random: Randomness

    /// Seconds.
    private static let correlationTime = 60.0

    /// Creates a receiver.
    package init(accuracy: Double = 5, reportsSpeed: Bool = true, seed: UInt64) {
        self.accuracy = accuracy
        self.reportsSpeed = reportsSpeed
        random = Randomness(seed: seed)
    }

    /// Returns the fix of a machine at `point`, with a velocity in metres per second, `time` seconds after the start.
    package mutating func fix(at time: Double, _ point: GroundPoint, velocity: GroundPoint) -> PlaceFix {
        let sigma = accuracy / 2.0.squareRoot()
        let kept = self.time.map { exp(-(time - $0) / Self.correlationTime) } ?? 0
        let change = sigma * (1 - kept * kept).squareRoot()
        error.east = kept * error.east + change * random.normal()
        error.north = kept * error.north + change * random.normal()
        self.time = time
        let speed = hypot(velocity.east, velocity.north)
        let reported = abs(speed + 0.15 * random.normal())
        let course = atan2(velocity.east, velocity.north) * 180 / .pi + 20 * random.normal() / max(1, speed)
        let remainder = course.truncatingRemainder(dividingBy: 360)
        return PlaceFix(
            timestamp: Date(timeIntervalSince1970: 1_800_000_000 + time),
            arrival: MonotonicTime(seconds: 1_000 + time),
            coordinate: GroundPoint(point.east + error.east, point.north + error.north).coordinate,
            accuracy: accuracy,
            speed: reportsSpeed ? reported : nil,
            course: reportsSpeed && speed > 0.5 ? (remainder < 0 ? remainder + 360 : remainder) : nil
        )
    }
}
