import Glibc

/// The way of a bus on a route, second by second.
///
/// It stops at most stops, at traffic lights and in jams, and may leave the route for a diversion.
package struct BusDrive: Sendable {
    /// The true state of the bus.
    package struct Moment: Sendable {
        package var time: Double
        package var point: GroundPoint
        package var velocity: GroundPoint
        /// Metres along the route; nil during a diversion.
        package var along: Double?
        /// Whether the bus is held up by a light or a jam.
        package var isHeld: Bool
    }

    /// What happens on the way.
    package struct Conditions: Sendable {
        package var lights = 0.3
        package var jams = 0.03
        package var diversion = false
        package init() {}
    }

    package private(set) var moments: [Moment] = []
    /// The stop that a diversion leaves out.
    package private(set) var skipped: Int?

    /// The way that is driven: the route, with a diversion.
    private var line: GroundLine
    /// Where the diversion is, in metres of the route and of the way.
    private var detour: (from: Double, to: Double, length: Double)?

    private static let step = 0.25

    /// Drives along a route, from a distance on it.
    package init(_ route: CityRoute, from start: Double, _ conditions: Conditions, _ random: inout Randomness) {
        line = route.line
        if conditions.diversion { divert(route, from: start, &random) }
        drive(route, from: start, conditions, &random)
    }

    /// Goes around a stop on a parallel street.
    private mutating func divert(_ route: CityRoute, from start: Double, _ random: inout Randomness) {
        let possible = route.stops.indices.dropFirst(2).dropLast(2).filter { index in
            let (from, to) = (route.stops[index] - 150, route.stops[index] + 150)
            let isClear = route.stops.allSatisfy { abs($0 - route.stops[index]) < 1 || $0 < from - 40 || $0 > to + 40 }
            let (a, b) = (route.line.point(at: from).point, route.line.point(at: to).point)
            return isClear && from > start + 300 && hypot(a.east - b.east, a.north - b.north) > 290
        }
        guard !possible.isEmpty else { return }
        let stop = possible[Int(random.next() % UInt64(possible.count))]
        let (from, to) = (route.stops[stop] - 150, route.stops[stop] + 150)
        let aside = random.uniform(150...450) * (random.uniform(0...1) < 0.5 ? -1 : 1)
        var way = GroundLine(route.line.points[0])
        for (point, distance) in zip(route.line.points, route.line.distances) where distance < from {
            way.move(to: point)
        }
        way.move(to: route.line.point(at: from).point)
        let begin = way.length
        way.move(to: route.line.point(at: from + 0.01, right: aside).point)
        way.move(to: route.line.point(at: to, right: aside).point)
        way.move(to: route.line.point(at: to).point)
        detour = (from, to, way.length - begin)
        for (point, distance) in zip(route.line.points, route.line.distances) where distance > to {
            way.move(to: point)
        }
        line = way
        skipped = stop
    }

    /// Returns metres of the way at metres of the route.
    private func way(at along: Double) -> Double {
        guard let detour, along >= detour.to else { return along }
        return along - (detour.to - detour.from) + detour.length
    }

    /// Returns metres of the route at metres of the way.
    private func along(at way: Double) -> Double? {
        guard let detour, way > detour.from else { return way }
        let behind = way - detour.from - detour.length
        return behind >= 0 ? detour.to + behind : nil
    }

    private mutating func drive(
        _ route: CityRoute,
        from start: Double,
        _ conditions: Conditions,
        _ random: inout Randomness
    ) {
        // Where the bus stands: metres of the way, seconds, and whether that holds it up.
        var halts: [(at: Double, seconds: Double, isHeld: Bool)] = []
        for (index, stop) in route.stops.enumerated() where index != skipped && stop > start + 30 {
            if index == route.stops.count - 1 || random.uniform(0...1) < 0.75 {
                halts.append((way(at: stop) - random.uniform(-2...6), random.uniform(8...30), false))
            }
            if random.uniform(0...1) < conditions.lights {
                halts.append((way(at: stop) - random.uniform(40...300), random.uniform(5...40), true))
            }
            if random.uniform(0...1) < conditions.jams {
                let begin = way(at: stop) - random.uniform(20...250)
                for halt in 0..<8 { halts.append((begin + Double(halt) * 12, random.uniform(5...25), true)) }
            }
        }
        halts.sort { $0.at < $1.at }
        halts.removeAll { $0.at < way(at: start) + 20 }
        let corners = zip(line.points.indices, line.distances).dropFirst().dropLast().compactMap { index, distance in
            let (before, after) = (line.point(at: distance - 0.1).direction, line.point(at: distance + 0.1).direction)
            return before.east * after.east + before.north * after.north < 0.5 ? distance : nil
        }
        let end = way(at: route.stops[route.stops.count - 1]) + 1
        var (at, speed, time) = (way(at: start), 0.0, 0.0)
        stand(at, random.uniform(20...60), isHeld: false, &time)
        var cruise = random.uniform(9...13)
        var (nextCorner, nextHalt) = (0, 0)
        let usual = cruise
        let (faster, slower) = (random.uniform(0.8...1.2), random.uniform(0.8...1.2))
        while at < end, nextHalt < halts.count {
            let halt = halts[nextHalt]
            if at >= halt.at - 0.3 {
                stand(at, halt.seconds, isHeld: halt.isHeld, &time)
                speed = 0
                cruise = usual * random.uniform(0.85...1.15)
                nextHalt += 1
                continue
            }
            while nextCorner < corners.count, corners[nextCorner] < at { nextCorner += 1 }
            var limit = min(cruise, (2 * slower * (halt.at - at)).squareRoot())
            if nextCorner < corners.count {
                limit = min(limit, (25 + 2 * slower * max(0, corners[nextCorner] - at)).squareRoot())
            }
            speed = max(0.3, min(limit, speed + faster * Self.step))
            at += speed * Self.step
            time += Self.step
            append(at, speed, time, isHeld: false)
        }
        stand(at, 120, isHeld: false, &time)
    }

    private mutating func stand(_ at: Double, _ seconds: Double, isHeld: Bool, _ time: inout Double) {
        let end = time + seconds
        while time < end {
            time += Self.step
            append(at, 0, time, isHeld: isHeld)
        }
    }

    private mutating func append(_ at: Double, _ speed: Double, _ time: Double, isHeld: Bool) {
        let (point, direction) = line.point(at: at, right: 2)
        moments.append(
            Moment(
                time: time,
                point: point,
                velocity: GroundPoint(speed * direction.east, speed * direction.north),
                along: along(at: at),
                isHeld: isHeld
            )
        )
    }
}
