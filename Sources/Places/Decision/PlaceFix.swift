package import BackgrounderAPI
package import FoundationEssentials
package import SystemSupport

/// A fix that passed the accuracy gate and the rules of time, before the distance filter.
package struct PlaceFix: Hashable, Sendable {
    package var timestamp: Date
    /// The time at which it arrived.
    package var arrival: MonotonicTime
    package var coordinate: Coordinate
    /// In metres on Core Location's scale; `nil` if unknown.
    package var accuracy: Double?
    /// In metres per second as the receiver reports it; `nil` if unknown.
    package var speed: Double?
    /// In degrees clockwise from true north; `nil` if unknown.
    package var course: Double?

    /// Creates a fix.
    package init(
        timestamp: Date,
        arrival: MonotonicTime,
        coordinate: Coordinate,
        accuracy: Double? = nil,
        speed: Double? = nil,
        course: Double? = nil
    ) {
        self.timestamp = timestamp
        self.arrival = arrival
        self.coordinate = coordinate
        self.accuracy = accuracy
        self.speed = speed
        self.course = course
    }

    /// Creates the fix of an accepted point.
    package init(_ location: Location, arrival: MonotonicTime) {
        self.init(
            timestamp: location.timestamp,
            arrival: arrival,
            coordinate: Coordinate(latitude: location.latitude, longitude: location.longitude),
            accuracy: location.horizontalAccuracy,
            speed: location.speed,
            course: location.course
        )
    }

    /// The standard deviation of the error towards the boundary of a place, in metres.
    var sigma: Double {
        max(PlaceRules.leastSigma, (knownAccuracy ?? PlaceRules.assumedAccuracy) / PlaceRules.accuracyToSigma)
    }

    var knownAccuracy: Double? { accuracy.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil } }

    var reportedSpeed: Double? { speed.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil } }
    var reportedCourse: Double? { course.flatMap { (0...360).contains($0) ? $0 : nil } }
}
