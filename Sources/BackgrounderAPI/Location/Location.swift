package import FoundationEssentials

/// A point of the track: a fix that the filter accepted.
///
/// Degrees are WGS84, lengths metres, speeds metres per second, courses degrees clockwise from true north. An unknown value is
/// `nil` and absent from the JSON, never 0, -1 or NaN. All numbers are finite.
package struct Location: Codable, Hashable, Sendable {
    package var latitude: Double
    package var longitude: Double
    /// Above mean sea level if the source knows it, otherwise above the ellipsoid.
    package var altitude: Double?
    /// The radius that contains the true position with 63 to 68 %, as in Core Location.
    package var horizontalAccuracy: Double?
    package var accuracySource: AccuracySource?
    package var verticalAccuracy: Double?
    package var speed: Double?
    package var course: Double?
    /// Rounded to milliseconds.
    package var timestamp: Date
    /// gpsd's mode: 2 for a 2D fix, 3 for a 3D fix.
    package var mode: Int
    /// True if the point opens a segment, otherwise absent.
    package var segmentStart: Bool?

    /// Creates a location.
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

/// The source of a horizontal accuracy, best first.
package enum AccuracySource: String, Codable, CaseIterable, Sendable {
    /// The receiver's own error estimate (NMEA GST).
    case gst
    /// The receiver's error as gpsd passes it on.
    case receiver
    /// Derived from the satellite geometry.
    case model
    /// Stated by the file that the point was read from.
    case file
}

/// The desired accuracy: Core Location's levels, finest first.
package enum DesiredAccuracy: String, Codable, CaseIterable, Sendable {
    case bestForNavigation, best, nearestTenMeters, hundredMeters, kilometer, threeKilometers

    /// Decodes the name of a level. The error for another text lists all levels.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let level = Self(rawValue: text) else {
            let all = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "\(text.debugDescription) is not a level; use one of \(all)"
            )
        }
        self = level
    }
}
