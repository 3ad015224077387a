/// The route that the machine follows, and how far it has come.
package struct PlaceRouteProgress: Codable, Hashable, Sendable {
    /// Where the machine is on its way to a stop.
    package enum StopState: String, Codable, CaseIterable, Sendable {
        case ahead
        /// The next stop, once a rule has announced it.
        case approaching
        case at
        case left
        /// The machine did not come to it, because of a diversion.
        case skipped
    }

    /// A visit of a stop.
    package struct Stop: Codable, Hashable, Sendable {
        package var name: String
        /// Its id in the feed; absent in GPX.
        package var sourceId: String?
        package var placeId: Int
        /// Metres along the route from its beginning.
        package var distance: Double
        package var state: StopState

        /// Creates a visit.
        package init(name: String, sourceId: String? = nil, placeId: Int, distance: Double, state: StopState) {
            self.name = name
            self.sourceId = sourceId
            self.placeId = placeId
            self.distance = distance
            self.state = state
        }
    }

    /// The name of the line, the destination or the trip.
    package var name: String
    /// In the order of the visits.
    package var stops: [Stop]
    /// In metres.
    package var length: Double
    /// Metres along the route; absent until the machine is on it.
    package var progress: Double?
    /// The name of the next stop, or of the one at which the machine is; absent before and after the run.
    package var next: String?
    package var diverted: Bool
    package var finished: Bool

    /// Creates a description.
    package init(
        name: String,
        stops: [Stop],
        length: Double,
        progress: Double? = nil,
        next: String? = nil,
        diverted: Bool = false,
        finished: Bool = false
    ) {
        self.name = name
        self.stops = stops
        self.length = length
        self.progress = progress
        self.next = next
        self.diverted = diverted
        self.finished = finished
    }
}
