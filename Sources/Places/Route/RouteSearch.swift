import FoundationEssentials

/// Searches a machine on the whole shape, until it has followed one part of it for long enough.
struct RouteSearch: Sendable {
    /// A part of the shape that the machine may follow.
    struct Candidate: Sendable {
        /// Metres from the beginning of the shape, where it was first seen or turned around.
        var start: Double
        var along: Double
        fileprivate var origin: Position
        /// Metres to the right of the shape at ``start``.
        fileprivate var right: Double
        /// Metres that the machine moved since ``start``, if its speed is measured.
        fileprivate var way = 0.0
        /// Metres that it can have moved since ``along``.
        fileprivate var reach = 0.0
        fileprivate var misses = 0

        var advance: Double { along - start }

        fileprivate init(_ match: RouteMatch, _ seen: RouteObservation) {
            start = match.along
            along = match.along
            origin = seen.position
            right = match.right
        }

        /// Returns whether the machine really moves along the shape, by at least `metres`.
        fileprivate func hasAdvanced(_ metres: Double, _ seen: RouteObservation) -> Bool {
            guard misses == 0, advance >= metres else { return false }
            // Errors move a standing machine, too.
            return seen.isMeasured ? way >= 0.5 * advance : advance >= RouteRules.standingLeave * seen.sigma
        }
    }

    private(set) var candidates: [Candidate] = []

    /// Forgets all candidates.
    mutating func restart() { candidates = [] }

    /// Continues each candidate, and begins new ones.
    mutating func receive(_ seen: RouteObservation, on shape: RouteShape) {
        if seen.seconds > PlaceRules.longestGap { candidates = [] }
        for index in candidates.indices {
            candidates[index].way += seen.way
            candidates[index].reach += seen.way + seen.slack
            candidates[index].misses += 1
        }
        var comparisons = RouteLimits.comparisonsOfFix
        var minima = shape.minima(
            near: seen.position,
            within: RouteRules.joinDistance + seen.sigma,
            comparisons: &comparisons
        )
        minima.removeAll { (seen.angle(to: $0) ?? 0) > RouteRules.joinTolerance }
        if minima.count > RouteLimits.candidates {
            minima.sort { $0.distance < $1.distance }
            minima.removeLast(minima.count - RouteLimits.candidates)
        }
        var continued: [Candidate] = []
        for match in minima {
            var best: Candidate?
            for candidate in candidates where candidate.canReach(match, seen) {
                if candidate.advance > best?.advance ?? -1 { best = candidate }
            }
            continued.append(best.map { $0.continued(to: match, seen) } ?? Candidate(match, seen))
        }
        // Candidates that this fix does not continue wait for the next fixes.
        for candidate in candidates where candidate.misses <= RouteRules.searchMisses {
            let isContinued = continued.contains { abs($0.along - candidate.along) <= candidate.reach + 30 }
            if !isContinued, continued.count < 2 * RouteLimits.candidates { continued.append(candidate) }
        }
        candidates = continued
    }

    /// Returns the candidate of a machine that follows no part yet.
    ///
    /// - Parameters:
    ///   - end: metres along the shape from which nothing remains to be followed.
    ///   - hasFinished: whether a run has just ended, so that the next one is expected at the beginning.
    func first(_ seen: RouteObservation, before end: Double, hasFinished: Bool) -> Candidate? {
        let ready = candidates.filter { candidate in
            let middle = hasFinished ? RouteRules.newRunAdvance : RouteRules.joinAdvance
            let needed = candidate.start <= RouteRules.beginning ? RouteRules.shortAdvance : middle
            return candidate.along < end && candidate.hasAdvanced(needed, seen)
        }
        if let first = ready.filter({ $0.start <= RouteRules.beginning }).min(by: { $0.start < $1.start }) {
            return first
        }
        guard let best = ready.max(by: { $0.advance < $1.advance }) else { return nil }
        let isUnclear = candidates.contains {
            abs($0.along - best.along) > RouteRules.apart && $0.advance >= best.advance / 2
        }
        return isUnclear ? nil : best
    }

    /// Returns the candidate of a machine that left the route, and whether it began a new run.
    func next(_ seen: RouteObservation, after anchor: RouteAnchor, end: Double) -> (Candidate, isNewRun: Bool)? {
        func strangeness(_ candidate: Candidate) -> Double {
            let ahead = candidate.start - anchor.along
            // A diversion is longer than the route.
            let isPossible = (0...(anchor.way + anchor.slack)).contains(ahead)
            return abs(ahead - anchor.way) * (isPossible ? RouteRules.detourShare : RouteRules.strangeShare)
        }
        let ready = candidates.filter { candidate in
            let needed = min(RouteRules.newRunAdvance, max(RouteRules.shortAdvance, strangeness(candidate)))
            return candidate.start >= anchor.along - RouteRules.returnBehind && candidate.start < end
                && candidate.hasAdvanced(needed, seen)
        }
        if let best = ready.min(by: { strangeness($0) < strangeness($1) }) { return (best, false) }
        let begun = candidates.filter {
            $0.start < anchor.along - RouteRules.returnBehind && $0.along < end
                && $0.hasAdvanced(RouteRules.newRunAdvance, seen)
        }
        return begun.max { $0.advance < $1.advance }.map { ($0, true) }
    }
}

extension RouteSearch.Candidate {
    fileprivate func canReach(_ match: RouteMatch, _ seen: RouteObservation) -> Bool {
        let change = match.along - along
        let noise = 10 + 2 * seen.sigma
        return change >= -noise && change <= reach + noise
    }

    /// Returns the candidate at `match`; from there if the machine turned around or crosses the shape.
    fileprivate func continued(to match: RouteMatch, _ seen: RouteObservation) -> Self {
        let aside = abs(match.right - right)
        guard match.along >= start, aside <= RouteRules.sideways + seen.sigma,
            match.along - start + 2 * seen.sigma + 5 >= 0.8 * origin.distance(to: seen.position)
        else { return Self(match, seen) }
        var next = self
        next.along = match.along
        next.reach = 0
        next.misses = 0
        return next
    }
}
