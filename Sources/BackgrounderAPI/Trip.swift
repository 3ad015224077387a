package import FoundationEssentials

/// A way from the first movement to a stop or a gap, as the history keeps it.
///
/// Distances are metres, times seconds, speeds metres a second; degrees are WGS84.
package struct Trip: Codable, Hashable, Sendable {
    /// From 1 on in the order in which trips were recorded; never given again. 0 before it is stored.
    package var id: Int
    package var start: Date
    /// The arrival; of a trip in progress its newest point.
    package var end: Date
    /// Sum of the ways between its points, inside segments only.
    package var distance: Double
    /// From start to end.
    package var duration: Double
    /// How long it really moved.
    package var movingTime: Double
    /// Distance by duration.
    package var averageSpeed: Double
    package var topSpeed: Double
    package var bounds: GeographicBounds
    /// How many points it has.
    package var points: Int
    /// Average speeds over equal spans of its time, at most 32; the last span may be shorter.
    package var speeds: [Double]
    /// True while its newest point is at most 10 minutes old and no stop or gap has ended it, else absent.
    package var inProgress: Bool?

    package init(
        id: Int = 0,
        start: Date,
        end: Date,
        distance: Double,
        movingTime: Double,
        topSpeed: Double,
        bounds: GeographicBounds,
        points: Int,
        speeds: [Double],
        inProgress: Bool? = nil
    ) {
        self.id = id
        self.start = start
        self.end = end
        self.distance = distance
        // Times are whole milliseconds, which a Date holds only nearly.
        duration = (end.timeIntervalSince(start) * 1000).rounded() / 1000
        self.movingTime = movingTime
        averageSpeed = duration > 0 ? distance / duration : 0
        self.topSpeed = topSpeed
        self.bounds = bounds
        self.points = points
        self.speeds = speeds
        self.inProgress = inProgress
    }
}

/// The smallest area between two parallels and two meridians that holds something.
///
/// As in GeoJSON (RFC 7946, 5.2) `minLongitude` is the western edge, and greater than `maxLongitude` where the antimeridian is
/// inside.
package struct GeographicBounds: Codable, Hashable, Sendable {
    package var minLatitude: Double
    package var minLongitude: Double
    package var maxLatitude: Double
    package var maxLongitude: Double

    package init(minLatitude: Double, minLongitude: Double, maxLatitude: Double, maxLongitude: Double) {
        self.minLatitude = minLatitude
        self.minLongitude = minLongitude
        self.maxLatitude = maxLatitude
        self.maxLongitude = maxLongitude
    }
}

/// A trip that changed, on its way into the history together with the points that changed it.
package struct TripRecord: Hashable, Sendable {
    package var trip: Trip
    /// How many points were recorded after its first one, up to and with the newest of the same transaction.
    package var pointsAfterFirst: Int
    /// How many were recorded after its last one.
    package var pointsAfterLast: Int

    package init(trip: Trip, pointsAfterFirst: Int, pointsAfterLast: Int) {
        self.trip = trip
        self.pointsAfterFirst = pointsAfterFirst
        self.pointsAfterLast = pointsAfterLast
    }
}

/// What was deleted of the history, or would be.
package struct DeletionReply: Codable, Hashable, Sendable {
    package var points = 0
    /// Trips that lost some or all of their points.
    package var trips = 0

    package init() {}
}
