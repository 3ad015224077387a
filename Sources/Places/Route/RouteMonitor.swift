import BackgrounderAPI
import FoundationEssentials

/// Decides from fixes how a machine follows a route: where it is, which stop is next, and where it leaves the route.
///
/// A value without side effects, for one thread at a time. The owner stores ``state`` with the decisions:
///
///     var monitor = RouteMonitor(route: route, watches: [.eta(25)], state: stored)
///     for decision in monitor.receive(fix) { … }
package struct RouteMonitor: Sendable {
    /// The route that is followed.
    package let route: FollowedRoute
    private var watches: [PlaceWatch] = []
    private var run: RouteRun?
    private var search = RouteSearch()
    private var motion = Motion()
    private var pace: RoutePace
    private var trail = RouteTrail()
    /// The time of the last fix that was judged.
    private var last: Date?
    private var speed = 0.0

    /// The state to keep across a restart.
    package struct State: Codable, Hashable, Sendable {
        fileprivate var fingerprint: UInt64
        fileprivate var run: RouteRun?
        fileprivate var last: Date?
        fileprivate var cruise: Double?
    }

    /// Creates a monitor.
    ///
    /// - Parameters:
    ///   - watches: when to announce a stop; those that are not valid, and `dwell`, are ignored.
    ///   - state: the state before a restart. That of another route is dropped.
    package init(route: FollowedRoute, watches: [PlaceWatch] = [], state: State? = nil) {
        self.route = route
        let stored = state.flatMap { $0.fingerprint == route.fingerprint ? $0 : nil }
        pace = RoutePace(cruise: stored?.cruise)
        if let stored, stored.run?.isValid(for: route) ?? true,
            stored.last?.timeIntervalSinceReferenceDate.isFinite ?? true
        {
            run = stored.run
            last = stored.last
        }
        setWatches(watches)
    }

    /// The state to store.
    package var state: State {
        State(fingerprint: route.fingerprint, run: run, last: last, cruise: pace.cruise)
    }

    /// Replaces the watches, after the rules changed. A watch that remains does not fire again for the same stop.
    package mutating func setWatches(_ watches: [PlaceWatch]) {
        self.watches = []
        for watch in watches where watch.isValid && !self.watches.contains(watch) {
            if case .dwell = watch { continue }
            self.watches.append(watch)
        }
    }

    /// How far the machine has come.
    package var progress: RouteProgress {
        RouteProgress(
            states: route.stops.indices.map { run?.state(of: $0) ?? .ahead },
            progress: run?.anchor.along,
            next: run.flatMap { $0.isFinished ? nil : $0.next },
            diverted: run?.isDiverted ?? false,
            isFinished: run?.isFinished ?? false
        )
    }

    /// Judges a fix and returns the decisions in their order.
    package mutating func receive(_ fix: PlaceFix) -> [RouteDecision] {
        guard let position = Position(fix.coordinate), fix.timestamp.timeIntervalSinceReferenceDate.isFinite,
            fix.knownAccuracy ?? 0 <= RouteRules.worstAccuracy, last != fix.timestamp
        else { return [] }
        var seconds = last.map { fix.timestamp.timeIntervalSince($0) } ?? 0
        if seconds < 0 {
            seconds = 0
            motion.restart()
            pace.restart()
            trail.restart()
            search.restart()
            run?.anchor.rebase(to: fix.timestamp)
        }
        motion.receive(fix, at: position)
        let seen = RouteObservation(
            fix,
            at: position,
            seconds: seconds,
            speedBefore: speed,
            tracked: pace.trackedSpeed(at: fix.timestamp),
            course: trail.course(to: position, at: fix.timestamp),
            motion: motion.state
        )
        last = fix.timestamp
        speed = seen.speed
        pace.receive(seen, median: motion.state.speed)
        if let run, !run.isFinished, fix.timestamp.timeIntervalSince(run.anchor.timestamp) > RouteRules.longestGap {
            self.run = nil
            search.restart()
            pace.restart()
        }
        let step = RouteRun.Step(seen: seen, route: route, watches: watches, pace: pace)
        guard var run, !run.isFinished else { return join(step) }
        let decisions = follow(&run, step)
        self.run = run
        return decisions
    }

    private mutating func follow(_ run: inout RouteRun, _ step: RouteRun.Step) -> [RouteDecision] {
        let time = step.seen.fix.timestamp
        run.anchor.move(step.seen)
        if !run.isDiverted {
            switch run.anchor.outcome(step.seen, on: route.shape) {
            case .match(let match):
                search.restart()
                var step = step
                let isElsewhere = run.anchor.isElsewhere(from: match.along)
                step.isLate = time.timeIntervalSince(run.anchor.timestamp) > PlaceRules.longestGap && !isElsewhere
                run.anchor.found(at: match, time)
                step.pace.matched(match.along, step.seen)
                let skipped = isElsewhere ? run.skip(to: match.along, step) : []
                return skipped + advance(&run, step)
            case .ambiguous:
                run.anchor.doubted(time)
                return []
            case .off:
                if run.anchor.missed(step.seen, on: route.shape) { return advance(&run, step) }
            }
        }
        search.receive(step.seen, on: route.shape)
        let end = route.stops[route.stops.count - 1].distance
        if run.isDiverted || run.anchor.isLost(at: time),
            let (candidate, isNewRun) = search.next(step.seen, after: run.anchor, end: end)
        {
            search.restart()
            if !isNewRun { return resume(&run, at: candidate, step) }
            let decisions = begin(at: candidate, step)
            run = self.run ?? run
            return decisions
        }
        return run.anchor.isDiversion(at: time) ? run.divert(true, step) : []
    }

    /// Continues where the machine returned to the route.
    private mutating func resume(_ run: inout RouteRun, at candidate: RouteSearch.Candidate, _ step: RouteRun.Step)
        -> [RouteDecision]
    {
        let time = step.seen.fix.timestamp
        let wasOff = run.isDiverted || run.anchor.isElsewhere(from: candidate.start)
        var step = step
        step.isLate = time.timeIntervalSince(run.anchor.timestamp) > PlaceRules.longestGap && !wasOff
        run.anchor = RouteAnchor(along: candidate.along, timestamp: time)
        step.pace.restart()
        var decisions = run.divert(false, step)
        if wasOff { decisions += run.skip(to: candidate.start, step) }
        return decisions + advance(&run, step)
    }

    private mutating func advance(_ run: inout RouteRun, _ step: RouteRun.Step) -> [RouteDecision] {
        var step = step
        let decisions = run.advance(&step)
        pace = step.pace
        return decisions
    }

    /// Begins a run, perhaps after one that did not finish.
    private mutating func begin(at candidate: RouteSearch.Candidate, _ step: RouteRun.Step) -> [RouteDecision] {
        search.restart()
        var step = step
        step.pace.restart()
        let anchor = RouteAnchor(along: candidate.along, timestamp: step.seen.fix.timestamp)
        var run = RouteRun(at: anchor, stops: route.stops)
        let decisions = run.joined(step) + advance(&run, step)
        self.run = run
        return decisions
    }

    private mutating func join(_ step: RouteRun.Step) -> [RouteDecision] {
        search.receive(step.seen, on: route.shape)
        let end = route.stops[route.stops.count - 1].distance - RouteRules.arrivalDistance
        return search.first(step.seen, before: end, hasFinished: run?.isFinished ?? false)
            .map { begin(at: $0, step) } ?? []
    }
}
