import BackgrounderAPI

/// A run along a route: where the machine is, and what it has done at each stop.
struct RouteRun: Codable, Hashable, Sendable {
    var anchor: RouteAnchor
    /// The index of the next stop, or of the one at which the machine is.
    private(set) var next: Int
    private(set) var isAt = false
    private(set) var isFinished = false
    private(set) var isDiverted = false
    private(set) var skipped: Set<Int> = []
    /// The watches that have fired for the next stop.
    private(set) var fired: Set<PlaceWatch> = []

    /// Begins a run at the anchor. The stops before it count as left.
    init(at anchor: RouteAnchor, stops: [FollowedRoute.Stop]) {
        self.anchor = anchor
        next = stops.firstIndex { $0.distance > anchor.along } ?? stops.count - 1
    }

    /// Whether the numbers can be those of `route`.
    func isValid(for route: FollowedRoute) -> Bool {
        route.stops.indices.contains(next) && anchor.isValid(length: route.length)
            && skipped.allSatisfy { route.stops.indices.contains($0) }
    }

    /// Returns what the machine has to do with a stop.
    func state(of stop: Int) -> PlaceRouteProgress.StopState {
        if skipped.contains(stop) { return .skipped }
        if stop != next { return stop < next ? .left : .ahead }
        return isAt ? .at : fired.isEmpty ? .ahead : .approaching
    }

    /// A fix that was found on the route.
    struct Step {
        var seen: RouteObservation
        var route: FollowedRoute
        var watches: [PlaceWatch]
        var pace: RoutePace
        /// Whether what happened has an unknown time.
        var isLate = false

        var stops: [FollowedRoute.Stop] { route.stops }

        func decision(_ kind: RouteEventKind, _ stop: Int?, along: Double) -> RouteDecision {
            RouteDecision(
                kind: kind,
                stop: stop,
                timestamp: seen.fix.timestamp,
                fix: seen.fix,
                progress: along,
                distance: stop.map { stops[$0].distance - along },
                sigma: seen.sigma
            )
        }
    }

    /// Returns the decision that the machine was found, and which stop is next.
    func joined(_ step: Step) -> [RouteDecision] {
        [step.decision(.join, nil, along: anchor.along), nextDecision(step)]
    }

    /// Decides what happens at the anchor.
    mutating func advance(_ step: inout Step) -> [RouteDecision] {
        var decisions: [RouteDecision] = []
        while !isFinished {
            if !isAt {
                decisions += approach(step)
                guard step.stops[next].distance - anchor.along <= RouteRules.arrivalDistance else { break }
                isAt = true
                fired = []
                step.pace.stopped()
                var arrival = step.decision(.arrive, next, along: anchor.along)
                // A stop far behind was passed between two fixes.
                step.isLate = step.isLate || step.stops[next].distance - anchor.along < -RouteRules.leaveDistance
                arrival.estimated = step.isLate
                decisions.append(arrival)
                if next == step.stops.count - 1 {
                    isFinished = true
                    decisions.append(step.decision(.finish, next, along: anchor.along))
                    break
                }
            }
            guard hasLeft(step) else { break }
            decisions += leave(step)
            decisions.append(nextDecision(step))
        }
        return decisions
    }

    /// Skips the stops that are clearly before `along`, where the machine returned to the route.
    mutating func skip(to along: Double, _ step: Step) -> [RouteDecision] {
        var decisions: [RouteDecision] = []
        let before = next
        if isAt, step.stops[next].distance + RouteRules.leaveDistance < along, next < step.stops.count - 1 {
            decisions += leave(step)
        }
        while next < step.stops.count - 1, !isAt, step.stops[next].distance + RouteRules.leaveDistance < along {
            decisions.append(step.decision(.skip, next, along: anchor.along))
            skipped.insert(next)
            next += 1
            fired = []
        }
        if next != before { decisions.append(nextDecision(step)) }
        return decisions
    }

    /// Begins or ends a diversion.
    mutating func divert(_ isDiverted: Bool, _ step: Step) -> [RouteDecision] {
        guard isDiverted != self.isDiverted else { return [] }
        self.isDiverted = isDiverted
        return [step.decision(isDiverted ? .diversionBegin : .diversionEnd, nil, along: anchor.along)]
    }

    // MARK: Stops

    private mutating func leave(_ step: Step) -> [RouteDecision] {
        var decision = step.decision(.leave, next, along: anchor.along)
        decision.estimated = step.isLate
        isAt = false
        next += 1
        fired = []
        return [decision]
    }

    private func nextDecision(_ step: Step) -> RouteDecision {
        var decision = step.decision(.next, next, along: anchor.along)
        decision.eta = eta(step)
        return decision
    }

    /// Returns the metres to the arrival at the next stop.
    private func remaining(_ step: Step) -> Double {
        max(0, step.stops[next].distance - anchor.along - RouteRules.arrivalDistance)
    }

    /// Returns the seconds to the arrival at the next stop.
    private func eta(_ step: Step) -> Double {
        let corners = step.route.shape.corners(
            from: anchor.along - RouteRules.cornerLength / 2,
            to: step.stops[next].distance - RouteRules.arrivalDistance
        )
        return step.pace.seconds(for: remaining(step), corners: corners.lazy.map { $0 - anchor.along })
    }

    private func hasLeft(_ step: Step) -> Bool {
        let past = anchor.along - step.stops[next].distance
        let standing = RouteRules.leaveDistance + RouteRules.standingLeave * step.seen.sigma
        return past >= (step.seen.isMoving || step.isLate ? RouteRules.leaveDistance : standing)
    }

    private mutating func approach(_ step: Step) -> [RouteDecision] {
        // A stop that was passed between two fixes is not announced any more.
        guard step.stops[next].distance - anchor.along >= -RouteRules.leaveDistance else { return [] }
        let remaining = remaining(step)
        let eta = eta(step)
        var decisions: [RouteDecision] = []
        for watch in step.watches where !fired.contains(watch) {
            let isDue =
                switch watch {
                case .dwell: false
                case .eta(let seconds): eta <= seconds
                case .within(let metres): remaining <= max(0, metres - RouteRules.arrivalDistance)
                }
            guard isDue else { continue }
            fired.insert(watch)
            var decision = step.decision(.approach, next, along: anchor.along)
            decision.watch = watch
            decision.eta = eta
            decisions.append(decision)
        }
        return decisions
    }
}
