import FoundationEssentials
import Glibc

/// Where a machine was last found on the route that it follows, and what happened since.
struct RouteAnchor: Codable, Hashable, Sendable {
    /// Metres from the beginning of the shape.
    private(set) var along: Double
    /// The greatest ``along`` since the machine was found.
    private(set) var farthest: Double
    private(set) var timestamp: Date
    /// Metres that the machine moved since.
    private(set) var way = 0.0
    /// Metres by which ``way`` may be too short.
    private(set) var slack = 0.0
    /// When fixes began to be off the route.
    private(set) var offSince: Date?
    private(set) var offFixes = 0
    /// When fixes began to have several possible places.
    private var doubtSince: Date?
    /// Whether the machine moved as the shape does while fixes were off the route, as if only the position were wrong.
    private var isParallel = true

    init(along: Double, timestamp: Date) {
        self.along = along
        farthest = along
        self.timestamp = timestamp
    }

    /// Whether the numbers can be those of a route with this length.
    func isValid(length: Double) -> Bool {
        let dates = [timestamp, offSince ?? timestamp, doubtSince ?? timestamp].map(\.timeIntervalSinceReferenceDate)
        return (0...length).contains(along) && (along...length).contains(farthest) && way.isFinite && way >= 0
            && slack.isFinite && slack >= 0 && offFixes >= 0 && dates.allSatisfy(\.isFinite)
    }

    /// The result of looking for a fix on the route.
    enum Outcome: Sendable {
        case match(RouteMatch)
        /// Several places are possible.
        case ambiguous
        case off
    }

    /// Adds the way to a fix.
    mutating func move(_ seen: RouteObservation) {
        way += seen.way
        slack += seen.slack
    }

    /// Continues at an earlier time, after the clock went back.
    mutating func rebase(to time: Date) {
        timestamp = min(timestamp, time)
        offSince = offSince.map { min($0, time) }
        doubtSince = doubtSince.map { min($0, time) }
    }

    /// Looks for the fix where the machine can be. The way to it has been added.
    func outcome(_ seen: RouteObservation, on shape: RouteShape) -> Outcome {
        let margin = RouteRules.margin + 2 * seen.sigma + slack
        // A jump back is not a movement, but a way may be longer than the shape.
        let behind = isLost(at: seen.fix.timestamp) ? 0 : along + way - margin
        let low = max(0, farthest - RouteRules.fallBack, behind)
        let high = min(shape.length, along + way + margin)
        guard low < high else { return .off }
        let near = RouteRules.joinDistance + seen.sigma
        let hasTurnedOff = offFixes >= RouteRules.offFixes && !isParallel
        let limit = hasTurnedOff ? near : RouteRules.offRoute + seen.accuracy
        let elapsed = seen.fix.timestamp.timeIntervalSince(timestamp)
        // After a gap, the position may have jumped to another part of the route.
        let time = seen.fix.timestamp
        let mayJump =
            elapsed > RouteRules.longestJump
            && doubtSince.map { time.timeIntervalSince($0) < RouteRules.longestJump } ?? true
        var comparisons = RouteLimits.comparisonsOfFix
        let matches = shape.matches(
            near: seen.position.point,
            up: seen.position.up,
            within: limit + (mayJump ? RouteRules.jumpDistance : 0),
            in: low...high,
            comparisons: &comparisons
        )
        var found: [(match: RouteMatch, cost: Double)] = []
        var rivals: [(match: RouteMatch, cost: Double)] = []
        for match in matches where match.isMinimum {
            // The end of the search is not a place on the route.
            if match.along <= low + 0.01 && low > 0 || match.along >= high - 0.01 && high < shape.length { continue }
            let angle = seen.angle(to: match) ?? 0
            let cost = cost(match, seen, angle: angle, mayJump: mayJump)
            if angle <= RouteRules.courseTolerance {
                found.append((match, cost))
            } else if angle <= RouteRules.cornerTolerance, match.distance <= near {
                rivals.append((match, cost))
            }
        }
        guard let best = found.min(by: { $0.cost < $1.cost }), best.match.distance <= limit else { return .off }
        if elapsed > RouteRules.shortGap {
            let isUnclear = (found + rivals).contains {
                abs($0.match.along - best.match.along) > RouteRules.apart && $0.cost < best.cost + RouteRules.clearly
            }
            if isUnclear { return .ambiguous }
        }
        return .match(best.match)
    }

    /// Returns how badly a match fits, in squared standard deviations.
    private func cost(_ match: RouteMatch, _ seen: RouteObservation, angle: Double, mayJump: Bool) -> Double {
        let spread = seen.sigma * seen.sigma + RouteRules.laneSigma * RouteRules.laneSigma
        let aside = min(mayJump ? RouteRules.jumpCost : .infinity, match.distance * match.distance / spread)
        let ahead = (match.along - along - way) / (20 + 0.3 * way + 0.3 * slack)
        let turned = angle / RouteRules.joinTolerance
        return aside + ahead * ahead + turned * turned
    }

    /// Records where the fix is.
    mutating func found(at match: RouteMatch, _ time: Date) {
        let before = farthest
        self = RouteAnchor(along: match.along, timestamp: time)
        farthest = max(before, along)
    }

    /// Records that the fix has several possible places.
    mutating func doubted(_ time: Date) { doubtSince = doubtSince ?? time }

    /// Records that the fix is off the route.
    ///
    /// For some seconds, the machine continues along the shape if its speed and course say so: in a street with high
    /// buildings, only the position is wrong.
    ///
    /// - Returns: whether ``along`` changed.
    mutating func missed(_ seen: RouteObservation, on shape: RouteShape) -> Bool {
        offSince = offSince ?? seen.fix.timestamp
        offFixes += 1
        let next = along + way
        if let heading = seen.heading {
            let cosine = heading.dot(shape.direction(at: next))
            if cosine < cos(RouteRules.parallelTolerance * .pi / 180) { isParallel = false }
        }
        guard isParallel, seen.isMeasured, seen.heading != nil, next < shape.length,
            seen.fix.timestamp.timeIntervalSince(timestamp) <= RouteRules.longestJump
        else { return false }
        along = next
        farthest = max(farthest, along)
        way = 0
        return true
    }

    /// Returns whether the machine has been off the route for long enough.
    func isDiversion(at time: Date) -> Bool {
        guard let offSince else { return false }
        return time.timeIntervalSince(offSince) >= RouteRules.diversionSpan && way >= RouteRules.diversionWay
    }

    /// Returns whether the machine came to `along` on another way than the route.
    func isElsewhere(from along: Double) -> Bool {
        offFixes >= RouteRules.offFixes && abs(along - self.along - way) > RouteRules.otherWay + slack
    }

    /// Returns whether the machine has been off the route for longer than jumps of the position last.
    func isLost(at time: Date) -> Bool {
        offSince.map { time.timeIntervalSince($0) >= RouteRules.longestJump } ?? false
    }
}
