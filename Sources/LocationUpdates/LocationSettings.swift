package import BackgrounderAPI

/// What decides which fixes are delivered.
package struct LocationSettings: Codable, Hashable, Sendable {
    package var desiredAccuracy: DesiredAccuracy
    /// Metres between delivered fixes; 0 delivers every fix. Finite and not negative.
    package var distanceFilter: Double
    /// A strict gate beside the level's, metres; `nil` is none.
    package var maximumAccuracy: Double?
    /// Whether a distance that the errors explain counts as standing still, while there is a distance filter.
    package var jitterGuard: Bool

    package init(
        desiredAccuracy: DesiredAccuracy = .best,
        distanceFilter: Double = 0,
        maximumAccuracy: Double? = nil,
        jitterGuard: Bool = true
    ) {
        self.desiredAccuracy = desiredAccuracy
        self.distanceFilter = distanceFilter
        self.maximumAccuracy = maximumAccuracy
        self.jitterGuard = jitterGuard
    }

    /// Metres up to which a fix passes both gates; `nil` where neither has a limit.
    package var limit: Double? {
        switch (desiredAccuracy.acceptLimit, maximumAccuracy) {
        case (let level?, let maximum?): min(level, maximum)
        case (let level?, nil): level
        case (nil, let maximum): maximum
        }
    }
}
