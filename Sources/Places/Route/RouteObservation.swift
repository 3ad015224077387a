import FoundationEssentials
import Glibc

/// A fix, as the parts that follow a route see it.
struct RouteObservation: Sendable {
    var fix: PlaceFix
    var position: Position
    /// Metres.
    var sigma: Double
    var accuracy: Double
    /// Seconds since the fix before; 0 for the first one.
    var seconds: Double
    /// Metres per second.
    var speed: Double
    /// Whether the receiver measures the speed.
    var isMeasured: Bool
    var isMoving: Bool
    /// Where the machine moves, of length 1; nil if it is unknown.
    var heading: Vector?
    /// Metres since the fix before.
    var way: Double
    /// Metres by which `way` may be too short.
    var slack: Double

    /// - Parameters:
    ///   - tracked: the speed along the route before, if it is known.
    ///   - course: the course of the last seconds, if it is known.
    init(
        _ fix: PlaceFix,
        at position: Position,
        seconds: Double,
        speedBefore: Double,
        tracked: Double?,
        course: Double?,
        motion: Motion.State
    ) {
        self.fix = fix
        self.position = position
        self.seconds = seconds
        sigma = fix.sigma
        accuracy = fix.knownAccuracy ?? PlaceRules.assumedAccuracy
        isMeasured = fix.reportedSpeed != nil
        speed = min(fix.reportedSpeed ?? tracked ?? motion.speed, RouteRules.longestSpeed)
        isMoving = motion.isMoving
        way = seconds * (speed + speedBefore) / 2
        // Between sparse fixes a vehicle may start and stop. A speed that is not measured lags behind.
        let change = seconds <= 2 ? 0.1 : 0.5
        let error = isMeasured ? 0.2 * seconds + 0.03 * way : 2 * seconds + 0.1 * way
        slack = min(seconds * RouteRules.longestSpeed, change * seconds * seconds + error)
        guard speed >= RouteRules.courseSpeed else { return }
        if let course = isMeasured ? fix.reportedCourse : course {
            let plane = TangentPlane(at: position)
            heading = sin(course * .pi / 180) * plane.east + cos(course * .pi / 180) * plane.north
        }
    }

    /// Returns the degrees between the movement and the shape; nil if the movement is unknown.
    func angle(to match: RouteMatch) -> Double? {
        heading.map { acos(max(-1, min(1, $0.dot(match.direction)))) * 180 / .pi }
    }
}

/// The last seconds of the way. They tell the course if the receiver does not.
struct RouteTrail: Sendable {
    private var points: [(timestamp: Date, position: Position)] = []

    /// Seconds, and metres that are longer than errors of the position in that time.
    private static let window = 3.0
    private static let shortest = 8.0

    /// Forgets the way.
    mutating func restart() { points = [] }

    /// Adds a position and returns the course to it.
    mutating func course(to position: Position, at time: Date) -> Double? {
        let recent = points.filter { time.timeIntervalSince($0.timestamp) <= Self.window + 0.5 }
        points = (recent.isEmpty ? points.suffix(1) : recent) + [(time, position)]
        guard let start = points.first, time.timeIntervalSince(start.timestamp) <= PlaceRules.longestGap,
            start.position.distance(to: position) >= Self.shortest
        else { return nil }
        return start.position.course(to: position)
    }
}
