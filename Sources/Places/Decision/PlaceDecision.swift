package import BackgrounderAPI
package import FoundationEssentials

/// An event at a place, with the figures on which the decision is based.
package struct PlaceDecision: Hashable, Sendable {
    package var placeId: Int64
    package var event: PlaceEventKind
    /// The watch of `dwell` and `approach`.
    package var watch: PlaceWatch?
    /// The time of the deciding fix; of `pass` the interpolated time of the entry, and of `dwell` the end of the time.
    package var timestamp: Date
    /// Of `pass`: the interpolated time of the exit.
    package var end: Date?
    /// The deciding fix; of `dwell` the newest one.
    package var fix: PlaceFix
    /// Of the fix: signed metres to the boundary, positive inside. Of `pass`: the greatest depth on the way.
    package var distance: Double
    /// The standard deviation of `distance` in metres.
    package var sigma: Double
    /// The probability that the fix is inside.
    package var probability: Double
    /// Of `approach`: seconds to the boundary at the present speed.
    package var eta: Double?
    /// Whether the machine crossed the boundary at an unknown time between two fixes.
    package var estimated = false
    /// Whether the machine was already inside when the monitor first saw the place. Such an `enter` starts a visit, but nothing was
    /// entered.
    package var initial = false
}

/// The present visit of a place.
package struct PlaceVisit: Codable, Hashable, Sendable {
    /// The timestamp of the fix that decided `enter`.
    package var since: Date
    /// Whether it began before the monitor saw the place.
    package var initial: Bool
}
