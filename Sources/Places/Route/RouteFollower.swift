package import BackgrounderAPI

/// A route that is followed, and the place of each of its stops.
package struct RouteFollower: Sendable {
    private var monitor: RouteMonitor
    /// The id of the place of each stop, in the order of the stops.
    private let places: [Int]
    private let stops: Set<Int>

    /// Creates a follower.
    ///
    /// - Parameters:
    ///   - places: the id of the place of each stop of `route`.
    ///   - state: the state before a restart. That of another route is dropped.
    package init(_ route: FollowedRoute, places: [Int], state: RouteMonitor.State? = nil) {
        precondition(places.count == route.stops.count)
        monitor = RouteMonitor(route: route, state: state)
        self.places = places
        stops = Set(places)
    }

    /// The state to store.
    package var state: RouteMonitor.State { monitor.state }

    /// How far the machine has come.
    package var progress: PlaceRouteProgress {
        let (route, progress) = (monitor.route, monitor.progress)
        return PlaceRouteProgress(
            name: route.name ?? route.headsign ?? route.tripId ?? "",
            stops: route.stops.indices.map { index in
                PlaceRouteProgress.Stop(
                    name: route.stops[index].name,
                    sourceId: route.stops[index].sourceId,
                    placeId: places[index],
                    distance: route.stops[index].distance,
                    state: progress.states[index]
                )
            },
            length: route.length,
            progress: progress.progress,
            next: progress.next.map { route.stops[$0].name },
            diverted: progress.diverted,
            finished: progress.isFinished
        )
    }

    /// Whether the machine is on its way, so that only the route tells which stop it approaches.
    var isUnderWay: Bool {
        let progress = monitor.progress
        return progress.progress != nil && !progress.isFinished
    }

    /// Returns whether the place is that of a stop.
    func isStop(_ id: Int64) -> Bool { stops.contains(Int(id)) }

    mutating func setWatches(_ watches: [PlaceWatch]) { monitor.setWatches(watches) }

    /// Judges a fix and returns the decisions, each with the id of the place of its stop.
    mutating func receive(_ fix: PlaceFix) -> [(decision: RouteDecision, place: Int?)] {
        monitor.receive(fix).map { ($0, $0.stop.map { places[$0] }) }
    }

    /// Describes a decision for the log, such as `next stop Harbour`.
    func line(_ decision: RouteDecision) -> String {
        let name = decision.stop.map { monitor.route.stops[$0].name } ?? ""
        return switch decision.kind {
        case .join: "on the route"
        case .next: "next stop \(name)"
        case .approach: "approaching \(name)"
        case .arrive: "at \(name)"
        case .leave: "left \(name)"
        case .skip: "skipped \(name)"
        case .diversionBegin: "off the route"
        case .diversionEnd: "back on the route"
        case .finish: "at the last stop, \(name)"
        }
    }
}
