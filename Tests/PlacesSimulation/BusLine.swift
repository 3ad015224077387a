import BackgrounderAPI
import Glibc
import Places

/// A bus line on a straight road with stops on both sides.
///
/// The stops of the other direction are opposite, 16 m away, and have the opposite course.
package enum BusLine {
    package struct Result: Sendable {
        /// Seconds between each announcement and its wanted time before the arrival; positive if it was late.
        package var errors: [Double] = []
        /// Announcements and visits of stops of the other direction, or of stops that are not next.
        package var wrong = 0
        package var repeated = 0
        package var missed = 0
        package var visits = 0

        package init() {}

        package static func += (left: inout Result, right: Result) {
            left.errors += right.errors
            left.wrong += right.wrong
            left.repeated += right.repeated
            left.missed += right.missed
            left.visits += right.visits
        }
    }

    /// Metres.
    private static let spacing = 500.0
    private static let radius = 30.0
    /// Metres per second squared.
    private static let acceleration = 1.0

    /// Drives past `stops` stops at about `speed` metres per second. Announcements are wanted `eta` seconds before the boundary.
    package static func drive(stops: Int, speed: Double, eta: Double, seed: UInt64) -> Result {
        var random = Randomness(seed: seed)
        var places: [PlaceDefinition] = []
        for stop in 1...stops {
            for (course, side) in [(90.0, -8.0), (270, 8)] {
                var place = Trials.circle(radius, at: GroundPoint(Double(stop) * spacing, side))
                place.course = course
                places.append(place)
            }
        }
        var monitor = Trials.monitor(places, watches: [.eta(eta)])
        var receiver = Receiver(seed: random.next())
        var announced: [Double?] = Array(repeating: nil, count: stops + 1)
        var arrived = announced
        var result = Result()
        way(stops, speed, &random).run(&receiver) { time, truth, fix in
            let next = Int(((truth.east + (spacing - radius)) / spacing).rounded(.down))
            if next >= 1, next <= stops, arrived[next] == nil, truth.east >= Double(next) * spacing - radius {
                arrived[next] = time
            }
            for decision in monitor.receive(fix) {
                let (stop, isOpposite) = (Int(decision.placeId / 2) + 1, decision.placeId % 2 == 1)
                switch decision.event {
                case .approach:
                    if isOpposite || arrived[stop] != nil || stop > 1 && arrived[stop - 1] == nil {
                        result.wrong += 1
                    } else if announced[stop] != nil {
                        result.repeated += 1
                    } else {
                        announced[stop] = time
                    }
                case .enter: if isOpposite { result.wrong += 1 } else { result.visits += 1 }
                case .pass: result.wrong += 1
                case .leave, .dwell, .next: break
                }
            }
        }
        for stop in 1...stops {
            if let announced = announced[stop], let arrived = arrived[stop] {
                result.errors.append(announced - (arrived - eta))
            } else {
                result.missed += 1
            }
        }
        return result
    }

    /// Returns a way that stops at three of four stops.
    private static func way(_ stops: Int, _ speed: Double, _ random: inout Randomness) -> Drive {
        var drive = Drive(from: GroundPoint(0, -4))
        drive.stop(20)
        var (east, velocity) = (0.0, 0.0)
        for stop in 1...stops {
            let stops = Double.random(in: 0...1, using: &random) < 0.75
            let cruise = speed * random.uniform(0.85...1.15)
            let target = Double(stop) * spacing
            while east < target - 0.5 {
                let remaining = target - east
                let wanted = stops ? min(cruise, (2 * acceleration * remaining).squareRoot()) : cruise
                velocity = max(0.5, min(wanted, velocity + acceleration * 0.5))
                east = min(target, east + velocity * 0.5)
                drive.move(to: GroundPoint(east, -4), speed: velocity)
            }
            if stops {
                velocity = 0
                drive.stop(random.uniform(10...30))
            }
        }
        drive.move(to: GroundPoint(east + 300, -4), speed: speed)
        return drive
    }
}
