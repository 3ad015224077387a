package import FoundationEssentials

/// A trip in the history: from the first movement to a stop or a gap.
///
/// Distances are in metres, times in seconds, speeds in metres per second; degrees are WGS84.
package struct Trip: Codable, Hashable, Sendable {
    /// Counts from 1 in the order of recording; never reused. 0 until the trip is stored.
    package var id: Int
    package var start: Date
    /// The arrival; for a trip in progress the time of its newest point.
    package var end: Date
    /// The sum of the distances between its points, inside segments only.
    package var distance: Double
    /// From start to end.
    package var duration: Double
    /// The time in motion.
    package var movingTime: Double
    /// Distance divided by duration.
    package var averageSpeed: Double
    package var topSpeed: Double
    package var bounds: GeographicBounds
    /// The number of points.
    package var points: Int
    /// Average speeds in equal spans of time, at most 32; the last span may be shorter.
    package var speeds: [Double]
    /// True while its newest point is at most 10 minutes old and no stop or gap has ended it, otherwise absent.
    package var inProgress: Bool?

    /// Creates a trip.
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
        // Times are whole milliseconds, which a Date represents only approximately.
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

/// The trip in progress, up to its newest point.
package struct TripProgress: Codable, Hashable, Sendable {
    package var start: Date
    /// Metres.
    package var distance: Double
    /// Seconds from the start to the newest point.
    package var duration: Double
    /// The number of points.
    package var points: Int

    /// Creates the progress of a trip.
    package init(start: Date, distance: Double, duration: Double, points: Int) {
        self.start = start
        self.distance = distance
        self.duration = duration
        self.points = points
    }
}

/// A bounding box.
///
/// As in GeoJSON (RFC 7946, 5.2), `minLongitude` is the western edge, and greater than `maxLongitude` if the box contains the
/// antimeridian.
package struct GeographicBounds: Codable, Hashable, Sendable {
    package var minLatitude: Double
    package var minLongitude: Double
    package var maxLatitude: Double
    package var maxLongitude: Double

    /// Creates a bounding box from its edges, in degrees.
    package init(minLatitude: Double, minLongitude: Double, maxLatitude: Double, maxLongitude: Double) {
        self.minLatitude = minLatitude
        self.minLongitude = minLongitude
        self.maxLatitude = maxLatitude
        self.maxLongitude = maxLongitude
    }
}

/// A changed trip, stored in one transaction with the points that changed it.
package struct TripRecord: Hashable, Sendable {
    package var trip: Trip
    /// How many points were recorded after its first one, including the newest of the transaction.
    package var pointsAfterFirst: Int
    /// How many points were recorded after its last one.
    package var pointsAfterLast: Int

    /// Creates a trip record.
    package init(trip: Trip, pointsAfterFirst: Int, pointsAfterLast: Int) {
        self.trip = trip
        self.pointsAfterFirst = pointsAfterFirst
        self.pointsAfterLast = pointsAfterLast
    }
}

/// The numbers of points and trips that were deleted, or would be.
package struct DeletionReply: Codable, Hashable, Sendable {
    package var points = 0
    /// Trips that lost some or all of their points.
    package var trips = 0

    /// Creates a deletion reply.
    package init() {}
}
