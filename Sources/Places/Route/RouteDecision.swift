package import BackgrounderAPI
package import FoundationEssentials

/// The kinds of events on a route.
package enum RouteEventKind: String, Codable, CaseIterable, Sendable {
    /// It was found on the route, on its way in the right direction.
    case join
    /// The stop is the next one: the one before was left, or the machine has just been found.
    case next
    /// The time or distance of a watch remains before the arrival at the stop.
    case approach
    case arrive
    case leave
    /// The machine did not come to the stop, because of a diversion.
    case skip
    case diversionBegin
    case diversionEnd
    /// It has arrived at the last stop.
    case finish
}

/// An event on a route, with the figures on which the decision is based.
package struct RouteDecision: Hashable, Sendable {
    package var kind: RouteEventKind
    /// The index of the stop; absent for `join` and diversions.
    package var stop: Int?
    /// The watch of `approach`.
    package var watch: PlaceWatch?
    /// The time of the deciding fix.
    package var timestamp: Date
    package var fix: PlaceFix
    /// Metres along the shape from its beginning.
    package var progress: Double
    /// Metres along the shape to the stop, positive ahead.
    package var distance: Double?
    /// The standard deviation of `progress` in metres.
    package var sigma: Double
    /// Seconds to the arrival, which is 15 m before the stop; only of `next` and `approach`.
    package var eta: Double?
    /// Whether it happened at an unknown time between two fixes.
    package var estimated = false
}

/// How far a machine has come on a route.
package struct RouteProgress: Hashable, Sendable {
    /// Of each stop, in the order of the visits.
    package var states: [PlaceRouteProgress.StopState]
    /// Metres along the shape from its beginning; nil until the machine has joined.
    package var progress: Double?
    /// The index of the next stop, or of the one at which the machine is; nil before and after the run.
    package var next: Int?
    package var diverted: Bool
    package var isFinished: Bool
}
