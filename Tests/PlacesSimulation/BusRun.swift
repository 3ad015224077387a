import BackgrounderAPI
import Foundation
import Places

/// A bus that runs along a route, with the decisions of the monitor beside the truth.
package enum BusRun {
    /// What a run went through.
    package struct Conditions: Sendable {
        package var drive = BusDrive.Conditions()
        /// Metres.
        package var accuracy = 5.0
        package var reportsSpeed = true
        /// How many jumps of the position there are in an hour, of 20 to 80 m for 3 to 15 s.
        package var jumps = 20.0
        /// How many times 15 to 90 s have no fix, in an hour.
        package var gaps = 0.0
        /// How many restarts of the service there are in an hour.
        package var restarts = 0.0
        /// Whether the bus is first seen in the middle of the route.
        package var startsLate = false
        package init() {}
    }

    /// The announcements and events of runs.
    package struct Result: Encodable, Sendable {
        /// Seconds between each announcement and its true moment; positive if it was late. Without those before which a
        /// light, a jam or missing fixes came.
        package var errors: [Double] = []
        /// The same for all announcements.
        package var allErrors: [Double] = []
        package var stops = 0
        package var skips = 0
        package var diversions = 0
        package var wrong = 0
        package var repeated = 0
        package var missed = 0
        package init() {}

        package static func += (left: inout Result, right: Result) {
            left.errors += right.errors
            left.allErrors += right.allErrors
            left.stops += right.stops
            left.skips += right.skips
            left.diversions += right.diversions
            left.wrong += right.wrong
            left.repeated += right.repeated
            left.missed += right.missed
        }
    }

    /// Runs along a random route of about `stops` stops. Announcements are wanted `eta` seconds before the arrival.
    package static func run(stops: Int, eta: Double, _ conditions: Conditions, seed: UInt64) -> Result {
        var random = Randomness(seed: seed)
        let route = CityRoute(stops: stops, &random)
        let start = conditions.startsLate ? random.uniform(300...(route.line.length / 2)) : 5
        let drive = BusDrive(route, from: start, conditions.drive, &random)
        let followed = try! FollowedRoute(route.definition)
        var monitor = RouteMonitor(route: followed, watches: [.eta(eta)])
        var receiver = Receiver(
            accuracy: conditions.accuracy,
            reportsSpeed: conditions.reportsSpeed,
            seed: random.next()
        )
        var record = RunRecord(route: followed, drive: drive)
        var jump = (until: 0.0, east: 0.0, north: 0.0)
        var gapEnd = 0.0
        for moment in drive.moments where moment.time == moment.time.rounded() {
            func happens(_ perHour: Double) -> Bool { random.uniform(0...3_600) < perHour }
            if moment.time >= jump.until, happens(conditions.jumps) {
                let (size, angle) = (random.uniform(20...80), random.uniform(0...(2 * .pi)))
                jump = (moment.time + random.uniform(3...15), size * cos(angle), size * sin(angle))
            }
            let isJump = moment.time < jump.until
            let point = GroundPoint(
                moment.point.east + (isJump ? jump.east : 0),
                moment.point.north + (isJump ? jump.north : 0)
            )
            let fix = receiver.fix(at: moment.time, point, velocity: moment.velocity)
            if moment.time >= gapEnd, happens(conditions.gaps) { gapEnd = moment.time + random.uniform(15...90) }
            if happens(conditions.restarts) {
                let json = try! JSONEncoder().encode(monitor.state)
                let state = try! JSONDecoder().decode(RouteMonitor.State.self, from: json)
                monitor = RouteMonitor(route: followed, watches: [.eta(eta)], state: state)
            }
            if moment.time < gapEnd {
                record.gap(at: moment)
            } else {
                for decision in monitor.receive(fix) { record.add(decision, at: moment) }
            }
        }
        return record.result(eta: eta)
    }
}

/// The decisions of a run.
private struct RunRecord {
    private struct Stop {
        /// Seconds at which the bus truly arrived and left.
        var arrived: Double?
        var left: Double?
        var announced: Double?
        var arrivals = 0
        var leaves = 0
        var skips = 0
        var nexts = 0
    }

    private let route: FollowedRoute
    private let drive: BusDrive
    private var stops: [Stop]
    private var held: [Double] = []
    private var gaps: [Double] = []
    private var joined: Double?
    private var firstStop = 0
    private var finishes = 0
    private var (begins, ends) = (0, 0)
    private var outcome = BusRun.Result()
    private var detour: (begin: Double, end: Double)?

    init(route: FollowedRoute, drive: BusDrive) {
        self.route = route
        self.drive = drive
        stops = route.stops.map { _ in Stop() }
        for moment in drive.moments {
            if moment.isHeld { held.append(moment.time) }
            guard let along = moment.along else {
                detour = (detour?.begin ?? moment.time, moment.time)
                continue
            }
            for index in stops.indices where index != drive.skipped {
                if stops[index].arrived == nil, along >= route.stops[index].distance - 15 {
                    stops[index].arrived = moment.time
                }
                if stops[index].left == nil, along >= route.stops[index].distance + 15 {
                    stops[index].left = moment.time
                }
            }
        }
    }

    mutating func gap(at moment: BusDrive.Moment) { gaps.append(moment.time) }

    mutating func add(_ decision: RouteDecision, at moment: BusDrive.Moment) {
        let index = decision.stop ?? 0
        let distance = moment.along.map { route.stops[index].distance - $0 }
        var isWrong = false
        switch decision.kind {
        case .join:
            isWrong = joined != nil || moment.along.map { abs($0 - decision.progress) > 60 } ?? true
            joined = joined ?? moment.time
            firstStop = route.stops.firstIndex { $0.distance > decision.progress } ?? 0
        case .next: stops[index].nexts += 1
        case .approach:
            isWrong = distance.map { $0 < -60 || index > 0 && stops[index - 1].arrived ?? 0 > moment.time } ?? true
            if stops[index].announced != nil { outcome.repeated += 1 } else { stops[index].announced = moment.time }
        case .arrive:
            isWrong = !decision.estimated && distance.map { abs($0) > 60 } ?? true
            stops[index].arrivals += 1
        case .leave:
            isWrong = !decision.estimated && distance.map { $0 > 40 } ?? false
            stops[index].leaves += 1
        case .skip:
            isWrong = index != drive.skipped
            stops[index].skips += 1
        case .diversionBegin:
            isWrong = detour.map { moment.time < $0.begin || moment.time > $0.end + 60 } ?? true
            begins += 1
        case .diversionEnd:
            isWrong = detour.map { moment.time < $0.end } ?? true
            ends += 1
        case .finish: finishes += 1
        }
        if isWrong { outcome.wrong += 1 }
    }

    func result(eta: Double) -> BusRun.Result {
        var result = outcome
        guard joined != nil else {
            result.missed += stops.count
            return result
        }
        for index in firstStop..<stops.count {
            let stop = stops[index]
            result.stops += 1
            for count in [stop.arrivals, stop.leaves, stop.skips, stop.nexts] { result.repeated += max(0, count - 1) }
            if index == drive.skipped {
                result.skips += 1
                if stop.skips == 0 { result.missed += 1 }
                if stop.arrivals > 0 { result.wrong += 1 }
                continue
            }
            if stop.arrivals == 0 || index < stops.count - 1 && stop.leaves == 0 { result.missed += 1 }
            guard let arrived = stop.arrived else { continue }
            var moment = arrived - eta
            if index > 0 { moment = max(moment, stops[index - 1].left ?? detour?.end ?? 0) }
            moment = max(moment, joined ?? 0)
            let isClear = !gaps.contains { $0 >= moment - 5 && $0 <= arrived }
            guard let announced = stop.announced else {
                if isClear { result.missed += 1 }
                continue
            }
            result.allErrors.append(announced - moment)
            if isClear, !held.contains(where: { $0 >= min(moment, announced) && $0 <= arrived }) {
                result.errors.append(announced - moment)
            }
        }
        if let detour, detour.end - detour.begin >= 90 {
            result.diversions += 1
            if begins == 0 || ends == 0 { result.missed += 1 }
        }
        result.repeated += max(0, begins - 1) + max(0, ends - 1) + max(0, finishes - 1)
        if finishes == 0 { result.missed += 1 }
        return result
    }
}
