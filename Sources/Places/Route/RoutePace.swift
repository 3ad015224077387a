import FoundationEssentials
import Glibc

/// The speed of a vehicle between stops, from which the time to a stop is predicted.
struct RoutePace: Sendable {
    /// The usual speed between stops in metres per second; nil until a stop was reached.
    private(set) var cruise: Double?
    private var peak = 0.0
    private var speed = 0.0
    private var samples: [(timestamp: Date, speed: Double)] = []

    /// Seconds over which the acceleration is measured.
    private static let window = 3.0

    init(cruise: Double? = nil) {
        self.cruise = cruise.flatMap { $0.isFinite && $0 > 0 ? min($0, RouteRules.longestSpeed) : nil }
    }

    /// Forgets the last seconds.
    mutating func restart() { samples = [] }

    /// Adds a fix. `median` is the median of the speeds of the last seconds.
    mutating func receive(_ seen: RouteObservation, median: Double) {
        // The median lags behind a vehicle that starts.
        speed = min(max(seen.speed, median), RouteRules.longestSpeed)
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
    func seconds(for metres: Double) -> Double {
        guard metres > 0 else { return 0 }
        let acceleration = RouteRules.acceleration
        var (from, seconds, rest) = (max(0.5, speed), 0.0, metres)
        if let cruise, cruise > from, isAccelerating {
            let way = (cruise * cruise - from * from) / (2 * acceleration)
            guard way < metres else {
                return ((from * from + 2 * acceleration * metres).squareRoot() - from) / acceleration
            }
            seconds = (cruise - from) / acceleration
            rest -= way
            from = cruise
        }
        // Vehicles slow down for the stop.
        let end = (2 * acceleration * RouteRules.arrivalDistance).squareRoot()
        let slower = max(0, from - end)
        let brakingWay = slower * (from + end) / (2 * acceleration)
        let braking = slower * slower / (2 * acceleration * from) * min(1, rest / max(1, brakingWay))
        return seconds + rest / from + RouteRules.slowDownShare * braking
    }
}
