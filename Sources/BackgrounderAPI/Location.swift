package import FoundationEssentials

/// A place where this machine was, as the filter let it through.
///
/// Degrees are WGS84, lengths metres, speeds metres a second, courses degrees clockwise from true north. What is not known
/// is `nil` and absent from the JSON, never 0, -1 or NaN; every number is finite.
package struct Location: Codable, Hashable, Sendable {
    package var latitude: Double
    package var longitude: Double
    /// Above mean sea level where the source tells it, else above the ellipsoid.
    package var altitude: Double?
    /// Radius that holds the true position with 63 to 68 %, Core Location's scale.
    package var horizontalAccuracy: Double?
    package var accuracySource: AccuracySource?
    package var verticalAccuracy: Double?
    package var speed: Double?
    package var course: Double?
    /// Whole milliseconds.
    package var timestamp: Date
    /// gpsd's: 2 is a fix without altitude, 3 one with.
    package var mode: Int
    /// True where nothing connects this point with the one before it, else absent.
    package var segmentStart: Bool?

    package init(
        latitude: Double,
        longitude: Double,
        altitude: Double? = nil,
        horizontalAccuracy: Double? = nil,
        accuracySource: AccuracySource? = nil,
        verticalAccuracy: Double? = nil,
        speed: Double? = nil,
        course: Double? = nil,
        timestamp: Date,
        mode: Int = 3,
        segmentStart: Bool? = nil
    ) {
        self.latitude = latitude
        self.longitude = longitude
        self.altitude = altitude
        self.horizontalAccuracy = horizontalAccuracy
        self.accuracySource = accuracySource
        self.verticalAccuracy = verticalAccuracy
        self.speed = speed
        self.course = course
        self.timestamp = timestamp
        self.mode = mode
        self.segmentStart = segmentStart
    }
}

/// Where a horizontal accuracy comes from, best first.
package enum AccuracySource: String, Codable, CaseIterable, Sendable {
    /// The receiver's own error estimate (NMEA GST).
    case gst
    /// An error that the receiver stated and gpsd passed on.
    case receiver
    /// Derived from the geometry of the satellites alone.
    case model
    /// Stated by the file that the point was read from.
    case file
}

/// How exact the positions should be: Core Location's levels, finest first.
package enum DesiredAccuracy: String, Codable, CaseIterable, Sendable {
    case bestForNavigation, best, nearestTenMeters, hundredMeters, kilometer, threeKilometers

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let level = Self(rawValue: text) else {
            let all = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "\(text.debugDescription) is no level; one of \(all)"
            )
        }
        self = level
    }
}
