import BackgrounderAPI
import FoundationEssentials

/// A place on the Earth, in degrees.
struct Place: Hashable, Sendable {
    var latitude: Double
    var longitude: Double

    func isFarther(than metres: Double, from other: Place) -> Bool {
        let (a, b) = ((latitude, longitude), (other.latitude, other.longitude))
        // Most comparisons are decided without trigonometry.
        if Geodesic.upperBound(from: a, to: b) <= metres { return false }
        if abs(latitude - other.latitude) * Geodesic.shortestDegree > metres { return true }
        return Geodesic.distance(from: a, to: b) > metres
    }
}

/// The part of a point that a trip needs.
struct TripPoint: Hashable, Sendable {
    var place: Place
    /// Seconds since 1970, whole milliseconds.
    var time: Double
    var speed: Double?
    /// Whether it continues the segment of the previous point.
    var isConnected: Bool
    /// Its 1-based number among the received points.
    var ordinal: Int

    init(_ location: Location, ordinal: Int) {
        place = Place(latitude: location.latitude, longitude: location.longitude)
        time = (location.timestamp.timeIntervalSince1970 * 1000).rounded() / 1000
        speed = location.speed
        isConnected = location.segmentStart != true
        self.ordinal = ordinal
    }
}

/// The step from one point to the next.
struct TripStep {
    var seconds: Double
    var isConnected: Bool
    /// In metres; 0 across segments.
    var distance: Double
    /// In metres per second; `nil` across segments and for steps without duration.
    var impliedSpeed: Double?
    /// By the reported speed, or by the implied speed without one.
    var isStanding: Bool
    var isMoving: Bool

    /// Creates a step; returns `nil` for a step back in time.
    init?(from last: TripPoint, to next: TripPoint) {
        seconds = next.time - last.time
        guard seconds >= 0 else { return nil }
        isConnected = next.isConnected
        distance =
            isConnected
            ? Geodesic.distance(
                from: (last.place.latitude, last.place.longitude),
                to: (next.place.latitude, next.place.longitude)
            ) : 0
        impliedSpeed = isConnected && seconds > 0 ? distance / seconds : nil
        isStanding = (next.speed ?? impliedSpeed).map { $0 < Fix.standingSpeed } ?? false
        isMoving =
            impliedSpeed.map { $0 >= Fix.standingSpeed } == true
            && next.speed.map { $0 >= Fix.standingSpeed } != false
    }
}
