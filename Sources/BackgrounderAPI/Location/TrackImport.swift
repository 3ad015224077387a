/// The body of `POST /v1/track/import`: imports the points of a GPX file into the history, with or without the filter.
package struct ImportRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    /// Absolute.
    package var path: String
    /// Whether to import every valid point without the filter; the settings below are then refused.
    package var raw: Bool?
    package var desiredAccuracy: DesiredAccuracy?
    /// Metres between points; 0 imports every accepted point.
    package var distanceFilter: Double?
    /// Metres, above 0.
    package var maximumAccuracy: Double?
    package var jitterGuard: Bool?

    /// Creates an import request.
    package init(
        path: String,
        raw: Bool? = nil,
        desiredAccuracy: DesiredAccuracy? = nil,
        distanceFilter: Double? = nil,
        maximumAccuracy: Double? = nil,
        jitterGuard: Bool? = nil
    ) {
        self.path = path
        self.raw = raw
        self.desiredAccuracy = desiredAccuracy
        self.distanceFilter = distanceFilter
        self.maximumAccuracy = maximumAccuracy
        self.jitterGuard = jitterGuard
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case path, raw, desiredAccuracy, distanceFilter, maximumAccuracy, jitterGuard
    }
}

/// The progress of an import. `received` is always `stored` plus `known` plus the sum of `rejected`.
package struct ImportProgress: Codable, Hashable, Sendable {
    /// Points of the file so far.
    package var received = 0
    /// Points that are new in the history.
    package var stored = 0
    /// Accepted points that the history already has, with the same time and position.
    package var known = 0
    package var rejected = RejectionCounts()
    /// New or changed trips.
    package var trips = 0
    /// Whether this is the last report.
    package var finished = false
    /// Why the rest of the file could not be read, in one line; everything before it is stored.
    package var fault: String?

    /// Creates a report with no points.
    package init() {}
}
