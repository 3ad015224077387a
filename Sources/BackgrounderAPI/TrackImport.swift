/// `POST /v1/track/import`: puts the points of a GPX file into the history, through the filter or as they are.
package struct ImportRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    /// Absolute.
    package var path: String
    /// Every valid point, without the filter; the settings below are refused then.
    package var raw: Bool?
    package var desiredAccuracy: DesiredAccuracy?
    /// Metres; 0 takes every point.
    package var distanceFilter: Double?
    /// Metres, above 0.
    package var maximumAccuracy: Double?
    package var jitterGuard: Bool?

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

/// How far an import is: `received` is always `stored` plus `known` plus the sum of `rejected`.
package struct ImportProgress: Codable, Hashable, Sendable {
    /// Points of the file so far.
    package var received = 0
    /// New in the history.
    package var stored = 0
    /// Accepted, and in the history before: a point of the same time and place.
    package var known = 0
    package var rejected = RejectionCounts()
    /// Trips that were new or have changed.
    package var trips = 0
    /// Whether this is the last word.
    package var finished = false
    /// Why the file was not read on, one line; what came before it is stored.
    package var fault: String?

    package init() {}
}
