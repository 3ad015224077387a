import BackgrounderAPI
import FoundationEssentials
import Glibc

/// One fix, as all places see it.
struct Observation: Sendable {
    var fix: PlaceFix
    var position: TangentPosition
    var sigma: Double
    var motion: Motion.State
    /// The fix before, unless it is older than ``PlaceRules/longestGap``.
    var previous: (timestamp: Date, position: Position)?
    /// Whether a longer time without fixes ended.
    var endsGap: Bool
}

/// The knowledge about one place: the side of the boundary, and the fixes that speak for the other side.
struct PlaceTrack: Codable, Hashable, Sendable {
    /// A row of fixes that contradict the side.
    struct Doubt: Codable, Hashable, Sendable {
        var since: Date
        /// Whether it began after a longer time without fixes.
        var followsGap: Bool
    }

    enum Side: Codable, Hashable, Sendable {
        /// No fix was clear since the monitor first saw the place.
        case undecided
        case outside(Doubt?)
        case inside(PlaceVisit, Doubt?)
    }

    private(set) var side: Side
    /// The watches that have fired on this visit or approach.
    private var fired: Set<PlaceWatch> = []
    /// The last fix that was clearly outside.
    private var lastOutside: Departure?
    /// The greatest distance since the last approach or visit, in metres.
    private var farthest = 0.0

    private struct Departure: Hashable, Sendable {
        var timestamp: Date
        var position: Position
    }

    /// A restart forgets where the last clear fix was; the one before the next fix replaces it.
    private enum CodingKeys: CodingKey { case side, fired, farthest }

    init(side: Side = .undecided) { self.side = side }

    var visit: PlaceVisit? { if case .inside(let visit, _) = side { visit } else { nil } }

    /// Whether the track says more than that the machine is far outside.
    var isWorthKeeping: Bool { side != .outside(nil) || !fired.isEmpty }

    /// Judges a fix and returns the decisions. `distance` is the signed distance to the boundary in metres.
    mutating func judge(_ place: MonitoredPlace, _ seen: Observation, distance: Double) -> [PlaceDecision] {
        let accuracy = seen.fix.knownAccuracy ?? PlaceRules.assumedAccuracy
        guard place.shape.radius >= PlaceRules.leastRadiusShare * accuracy else { return [] }
        let figures = Figures(place: place, seen: seen, distance: distance)
        switch side {
        case .undecided:
            if figures.isSurelyInside { return [enter(figures, initial: true)] }
            if figures.isSurelyOutside {
                side = .outside(nil)
                lastOutside = Departure(timestamp: seen.fix.timestamp, position: seen.position.origin)
            }
            return []
        case .outside(let doubt): return outside(figures, doubt)
        case .inside(let visit, let doubt): return inside(figures, visit, doubt)
        }
    }

    private mutating func outside(_ figures: Figures, _ doubt: Doubt?) -> [PlaceDecision] {
        let (place, seen) = (figures.place, figures.seen)
        // After a rest, and at the beginning, the fix before was clearly outside.
        lastOutside = lastOutside ?? seen.previous.map { Departure(timestamp: $0, position: $1) }
        if figures.isSurelyOutside {
            side = .outside(nil)
            defer { lastOutside = Departure(timestamp: seen.fix.timestamp, position: seen.position.origin) }
            if let pass = pass(figures) {
                fired = []
                farthest = 0
                return [pass]
            }
            return approach(figures)
        }
        let course = seen.motion.course
        if figures.isSurelyInside, seen.motion.isMoving, seen.motion.agrees, place.accepts(course: course) {
            return [enter(figures, initial: false)]
        }
        let depth = min(
            PlaceRules.standingEnter * figures.sigma,
            max(PlaceRules.sure * figures.sigma, place.shape.radius / 2)
        )
        guard figures.distance >= depth, place.accepts(course: course) else {
            side = .outside(nil)
            return []
        }
        let row = seen.doubt(after: doubt)
        side = .outside(row)
        guard seen.fix.timestamp.timeIntervalSince(row.since) >= PlaceRules.standingSpan else { return [] }
        var decision = enter(figures, initial: false)
        decision.estimated = row.followsGap
        return [decision]
    }

    private mutating func inside(_ figures: Figures, _ visit: PlaceVisit, _ doubt: Doubt?) -> [PlaceDecision] {
        let (seen, outside) = (figures.seen, -figures.distance)
        guard figures.isSurelyOutside else {
            side = .inside(visit, nil)
            return []
        }
        let row = seen.doubt(after: doubt)
        side = .inside(visit, row)
        let span = seen.fix.timestamp.timeIntervalSince(row.since)
        let motion = seen.motion
        let isFar = outside >= PlaceRules.leaveInOneFix * figures.sigma && motion.agrees && motion.isMoving
        let leaves =
            isFar
            || motion.isMoving && outside >= PlaceRules.leaveMargin && span >= PlaceRules.leaveSpan
            || outside >= PlaceRules.standingLeave * figures.sigma && span >= PlaceRules.standingSpan
        guard leaves else { return [] }
        side = .outside(nil)
        lastOutside = Departure(timestamp: seen.fix.timestamp, position: seen.position.origin)
        fired = []
        farthest = outside
        var decision = figures.decision(.leave)
        decision.estimated = row.followsGap
        return [decision]
    }

    private mutating func enter(_ figures: Figures, initial: Bool) -> PlaceDecision {
        side = .inside(PlaceVisit(since: figures.seen.fix.timestamp, initial: initial), nil)
        lastOutside = nil
        fired = []
        farthest = 0
        var decision = figures.decision(.enter)
        decision.initial = initial
        decision.estimated = figures.seen.endsGap && !initial
        return decision
    }

    /// Returns the decision for a way that crosses the place between two fixes outside.
    private func pass(_ figures: Figures) -> PlaceDecision? {
        let seen = figures.seen
        guard let (time, start) = lastOutside.map({ ($0.timestamp, $0.position) }) else { return nil }
        let seconds = seen.fix.timestamp.timeIntervalSince(time)
        guard seconds > 0, seconds <= PlaceRules.longestGap else { return nil }
        let end = seen.position.origin
        let length = start.distance(to: end)
        let speed = length / seconds
        guard length > -figures.distance, speed >= PlaceRules.shortestPassSpeed, speed <= PlaceRules.longestPassSpeed,
            figures.place.accepts(course: start.course(to: end)),
            let crossing = figures.place.shape.crossing(from: start, to: end),
            crossing.depth >= min(PlaceRules.sure * figures.sigma, figures.place.shape.radius / 2)
        else { return nil }
        var decision = figures.decision(.pass)
        decision.timestamp = time.addingTimeInterval(seconds * crossing.entry)
        decision.end = time.addingTimeInterval(seconds * crossing.exit)
        decision.distance = crossing.depth
        decision.estimated = true
        return decision
    }

    private mutating func approach(_ figures: Figures) -> [PlaceDecision] {
        let (place, motion, outside) = (figures.place, figures.seen.motion, -figures.distance)
        farthest = max(farthest, outside)
        guard !place.watches.isEmpty else { return [] }
        let eta = outside / max(0.5, motion.speed)
        var decisions: [PlaceDecision] = []
        for watch in place.watches {
            let (isDue, isOver): (Bool, Bool) =
                switch watch {
                case .dwell: (false, false)
                case .eta(let seconds):
                    (motion.isMoving && eta <= seconds, eta > 2 * seconds && outside > 2 * seconds * motion.speed + 50)
                case .within(let distance): (outside <= distance, outside > 1.5 * distance + 50)
                }
            if isOver { fired.remove(watch) }
            guard isDue, !fired.contains(watch), isNearing(figures) else { continue }
            fired.insert(watch)
            var decision = figures.decision(.approach)
            decision.watch = watch
            decision.eta = eta
            decisions.append(decision)
        }
        return decisions
    }

    /// Returns whether the machine comes nearer: within 60 degrees of the shortest way while it moves.
    private func isNearing(_ figures: Figures) -> Bool {
        let (place, motion, outside) = (figures.place, figures.seen.motion, -figures.distance)
        guard motion.isMoving else {
            return farthest - outside >= max(PlaceRules.leaveMargin, PlaceRules.standingEnter * figures.sigma)
        }
        guard motion.agrees, let earlier = motion.earlier, place.accepts(course: motion.course) else { return false }
        let before = -place.shape.signedDistance(from: TangentPosition(earlier.position))
        let way = earlier.position.distance(to: figures.seen.position.origin)
        return before - outside >= 0.5 * way
    }

    /// Returns how far from the boundary a watch that has not fired can matter at up to `speed`, in metres.
    func reach(_ place: MonitoredPlace, speed: Double) -> Double {
        PlaceReach(place.watches.lazy.filter { !fired.contains($0) }).distance(speed: speed)
    }

    /// Returns the times of `dwell` that have not fired, in seconds after the start of the visit; none while fixes contradict it.
    func dwells(of place: MonitoredPlace) -> [Double] {
        guard case .inside(_, nil) = side else { return [] }
        return place.watches.compactMap { watch in
            guard case .dwell(let seconds) = watch, !fired.contains(watch) else { return nil }
            return seconds
        }
    }

    /// Prepares for fixes that are not judged, since they are clearly on the same side.
    mutating func rest() { lastOutside = nil }

    /// Records that the machine has been inside for `seconds`.
    mutating func dwelled(_ seconds: Double) { fired.insert(.dwell(seconds)) }
}

extension Observation {
    /// Returns `doubt`, or a new one that begins with this fix, also if the clock went back.
    fileprivate func doubt(after doubt: PlaceTrack.Doubt?) -> PlaceTrack.Doubt {
        guard let doubt, doubt.since <= fix.timestamp else {
            return PlaceTrack.Doubt(since: fix.timestamp, followsGap: endsGap)
        }
        return doubt
    }
}

/// The figures of a fix and a place.
private struct Figures {
    let place: MonitoredPlace
    let seen: Observation
    let distance: Double
    var sigma: Double { seen.sigma }

    var isSurelyInside: Bool { distance >= PlaceRules.sure * sigma }
    var isSurelyOutside: Bool { distance <= -PlaceRules.sure * sigma }

    func decision(_ event: PlaceEventKind) -> PlaceDecision {
        PlaceDecision(
            placeId: place.id,
            event: event,
            timestamp: seen.fix.timestamp,
            fix: seen.fix,
            distance: distance,
            sigma: sigma,
            probability: PlaceDecision.probability(distance: distance, sigma: sigma)
        )
    }
}

extension PlaceDecision {
    /// Returns the probability that a position is inside whose signed distance from a straight boundary has the standard deviation
    /// `sigma`.
    static func probability(distance: Double, sigma: Double) -> Double {
        0.5 * erfc(-distance / sigma / 2.0.squareRoot())
    }
}
