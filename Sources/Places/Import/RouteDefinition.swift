package import BackgrounderAPI

/// A route with its stops, as a file describes it.
package struct RouteDefinition: Codable, Hashable, Sendable {
    /// A visit of a stop. A loop may visit a stop twice.
    package struct Stop: Codable, Hashable, Sendable {
        /// The order of the visits: increasing, with gaps in some feeds. Its stop id does not identify a visit; this does.
        package var sequence: Int
        package var name: String
        /// The id of the stop in its feed; absent in GPX.
        package var sourceId: String?
        package var coordinate: Coordinate
        /// Seconds after the beginning of the day of operation, 12 hours before noon; beyond 86,400 after midnight. Absent where the
        /// file states no time.
        package var arrival: Int?
        package var departure: Int?
        /// The distance along the shape, in the unit of ``RouteDefinition/shapeDistances``.
        package var shapeDistance: Double?

        /// Creates a visit.
        package init(
            sequence: Int,
            name: String,
            sourceId: String? = nil,
            coordinate: Coordinate,
            arrival: Int? = nil,
            departure: Int? = nil,
            shapeDistance: Double? = nil
        ) {
            self.sequence = sequence
            self.name = name
            self.sourceId = sourceId
            self.coordinate = coordinate
            self.arrival = arrival
            self.departure = departure
            self.shapeDistance = shapeDistance
        }
    }

    /// The name of the line, such as `M41`; absent where the file has none.
    package var name: String?
    /// The text on the front of the vehicle.
    package var headsign: String?
    /// The id of the trip in its feed; absent in GPX.
    package var tripId: String?
    /// At least two, in the order of the visits.
    package var stops: [Stop]
    /// The line that the vehicle follows: at least two positions. Without one in the file, the positions of the stops.
    package var shape: [Coordinate]
    /// For each position of the shape the distance from its beginning, not decreasing, in a unit of the file's choice; absent if the
    /// file does not state all of them.
    package var shapeDistances: [Double]?

    /// Creates a route.
    package init(
        name: String? = nil,
        headsign: String? = nil,
        tripId: String? = nil,
        stops: [Stop],
        shape: [Coordinate],
        shapeDistances: [Double]? = nil
    ) {
        self.name = name
        self.headsign = headsign
        self.tripId = tripId
        self.stops = stops
        self.shape = shape
        self.shapeDistances = shapeDistances
    }
}
