package import BackgrounderAPI

/// The settings that decide which fixes are delivered.
package struct LocationSettings: Codable, Hashable, Sendable {
    package var desiredAccuracy: DesiredAccuracy
    /// Metres between delivered points; 0 delivers every accepted fix. Finite and not negative.
    package var distanceFilter: Double
    /// A strict accuracy limit in metres beside the level's; `nil` for none.
    package var maximumAccuracy: Double?
    /// With a distance filter, whether movement that the position errors explain counts as standing still.
    package var jitterGuard: Bool

    /// Creates settings; by default those of a service without a configuration.
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

    /// The accuracy in metres up to which a fix passes both gates; `nil` if neither has a limit.
    var limit: Double? {
        switch (desiredAccuracy.acceptLimit, maximumAccuracy) {
        case (let level?, let maximum?): min(level, maximum)
        case (let level?, nil): level
        case (nil, let maximum): maximum
        }
    }
}
