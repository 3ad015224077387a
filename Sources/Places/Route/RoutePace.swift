import FoundationEssentials
import Glibc

/// The speed of a vehicle between stops, from which the time to a stop is predicted.
struct RoutePace: Sendable {
    /// The usual speed between stops in metres per second; nil until a stop was reached.
    private(set) var cruise: Double?
    private var peak = 0.0
    private var speed = 0.0
    private var samples: [(timestamp: Date, speed: Double)] = []
    /// The last places on the route.
    private var track: [(timestamp: Date, along: Double)] = []

    /// Seconds over which the acceleration is measured.
    private static let window = 3.0

    init(cruise: Double? = nil) {
        self.cruise = cruise.flatMap { $0.isFinite && $0 > 0 ? min($0, RouteRules.longestSpeed) : nil }
    }

    /// Forgets the last seconds.
    mutating func restart() {
        samples = []
        track = []
    }

    /// Returns the speed of the last seconds along the route, in metres per second; nil if it is unknown.
    ///
    /// A jump of the position does not change it.
    func trackedSpeed(at time: Date) -> Double? {
        // Then, the measured speed has forgotten the jump.
        guard let first = track.first, let last = track.last, time.timeIntervalSince(last.timestamp) <= 10 else {
            return nil
        }
        let seconds = last.timestamp.timeIntervalSince(first.timestamp)
        return seconds > 0 ? max(0, min(RouteRules.longestSpeed, (last.along - first.along) / seconds)) : nil
    }

    /// Adds the place of a fix on the route.
    mutating func matched(_ along: Double, _ seen: RouteObservation) {
        let time = seen.fix.timestamp
        let recent = track.filter { time.timeIntervalSince($0.timestamp) <= Self.window + 0.5 }
        track = (recent.isEmpty ? track.suffix(1) : recent) + [(time, along)]
        if !seen.isMeasured, let tracked = trackedSpeed(at: time) { speed = tracked }
    }

    /// Adds a fix. `median` is the median of the speeds of the last seconds.
    mutating func receive(_ seen: RouteObservation, median: Double) {
        // While a vehicle starts, the median is too low.
        speed = seen.isMeasured ? min(max(seen.speed, median), RouteRules.longestSpeed) : seen.speed
        if seen.isMoving { peak = max(peak, min(seen.speed, median + 3)) }
        samples.removeAll { seen.fix.timestamp.timeIntervalSince($0.timestamp) > Self.window + 0.5 }
        samples.append((seen.fix.timestamp, seen.speed))
    }

    /// Records that a stop was reached.
    mutating func stopped() {
        if peak > 0 { cruise = cruise.map { ($0 + peak) / 2 } ?? peak }
        peak = 0
    }

    private var isAccelerating: Bool {
        guard let first = samples.first, let last = samples.last else { return false }
        let seconds = last.timestamp.timeIntervalSince(first.timestamp)
        return seconds > 0 && last.speed - first.speed > 0.3 * seconds
    }

    /// Returns the seconds for a way of so many metres that ends shortly before a stop.
    ///
    /// - Parameter corners: metres to each corner on the way; negative for one just behind.
    func seconds(for metres: Double, corners: some Sequence<Double>) -> Double {
        guard metres > 0 else { return 0 }
        let acceleration = RouteRules.acceleration
        var (from, seconds, rest) = (max(0.5, speed), 0.0, metres)
        var count = 0
        var isAtCorner = false
        for corner in corners {
            if corner < RouteRules.cornerLength { isAtCorner = true } else { count += 1 }
        }
        if let cruise, cruise > from, isAccelerating || isAtCorner {
            let way = (cruise * cruise - from * from) / (2 * acceleration)
            guard way < metres else {
                return ((from * from + 2 * acceleration * metres).squareRoot() - from) / acceleration
            }
            seconds = (cruise - from) / acceleration
            rest -= way
            from = cruise
        }
        // Vehicles slow down for corners and for the stop.
        let slowest = max(0, from - RouteRules.cornerSpeed)
        seconds += Double(count) * slowest * slowest / (acceleration * from)
        let end = (2 * acceleration * RouteRules.arrivalDistance).squareRoot()
        let slower = max(0, from - end)
        let brakingWay = slower * (from + end) / (2 * acceleration)
        let braking = slower * slower / (2 * acceleration * from) * min(1, rest / max(1, brakingWay))
        return seconds + rest / from + RouteRules.slowDownShare * braking
    }
}
