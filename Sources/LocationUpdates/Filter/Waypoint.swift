import FoundationEssentials

/// A valid position and time, which the rules of time and movement compare.
struct Waypoint: Codable, Hashable, Sendable {
    var time: Date
    var latitude: Double
    var longitude: Double
    /// As the source reported it; `nil` if unknown.
    var speed: Double?
    /// The accuracy estimate in metres.
    var accuracy: Double?

    var place: (latitude: Double, longitude: Double) { (latitude, longitude) }

    /// Creates a waypoint from `fix`; returns `nil` if position or time is missing, not finite or out of range.
    init?(_ fix: Fix) {
        guard let time = fix.time, let latitude = fix.latitude, let longitude = fix.longitude,
            (-90...90).contains(latitude), (-180...180).contains(longitude),
            time.timeIntervalSinceReferenceDate.isFinite
        else { return nil }
        self.time = time
        self.latitude = latitude
        self.longitude = longitude
        speed = fix.speed.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
    }

    /// A shorter step back in time is out of order; a longer one is compared with the next fixes. In seconds.
    private static let smallStepBack = 2.0
    /// Metres per second.
    private static let speedLimit = 120.0
    /// How much the implied speed may exceed the reported one.
    private static let speedFactor = 1.5

    /// The relation of a later fix to an earlier one.
    enum Comparison {
        case same
        case slightlyBack(seconds: Double)
        case back(seconds: Double)
        case implausible(speed: Double, limit: Double)
        case plausible
    }

    /// Returns the relation of `next`, which arrived later, to this waypoint.
    func compare(_ next: Waypoint) -> Comparison {
        let seconds = next.time.milliseconds(since: time) / 1000
        if seconds == 0 { return .same }
        if seconds < 0 {
            return -seconds < Self.smallStepBack ? .slightlyBack(seconds: -seconds) : .back(seconds: -seconds)
        }
        let limit = max(Self.speedLimit, Self.speedFactor * max(speed ?? 0, next.speed ?? 0))
        // Nearly every step is far below the limit, and the bound costs a tenth of the distance.
        guard Geodesic.upperBound(from: place, to: next.place) / seconds > limit else { return .plausible }
        let implied = Geodesic.distance(from: place, to: next.place) / seconds
        return implied > limit ? .implausible(speed: implied, limit: limit) : .plausible
    }
}

extension Date {
    /// Returns the whole milliseconds since `earlier`; a Date's fraction of a second is only approximate.
    func milliseconds(since earlier: Date) -> Double {
        (timeIntervalSince(earlier) * 1000).rounded()
    }
}
