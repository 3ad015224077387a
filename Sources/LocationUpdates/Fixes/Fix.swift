package import BackgrounderAPI
package import FoundationEssentials

/// A fix as the source reported it, before any filter.
///
/// Degrees are WGS84, lengths metres, speeds metres per second. A value that the source did not report, or reported outside of
/// its range, is `nil`.
package struct Fix: Codable, Hashable, Sendable {
    /// gpsd's mode: 0 and 1 mean no fix, 2 a 2D fix, 3 a 3D fix.
    package var mode: Int
    /// Rounded to milliseconds.
    package var time: Date?
    package var latitude: Double?
    package var longitude: Double?
    /// Above mean sea level if the source knows it, otherwise above the ellipsoid.
    package var altitude: Double?
    package var speed: Double?
    package var course: Double?
    /// gpsd's estimated horizontal error, on gpsd's scale.
    package var eph: Double?
    package var epx: Double?
    package var epy: Double?
    /// The vertical error as the source states it.
    package var epv: Double?
    /// gpsd's status: 2 is DGPS, 3 RTK fixed, 4 RTK float.
    package var status: Int
    package var hdop: Double?
    /// The horizontal accuracy that a file states.
    package var statedAccuracy: Double?
    /// The original source of `statedAccuracy`, if the file states it.
    package var statedSource: AccuracySource?
    package var device: String?
    /// The time of arrival in seconds of the monotonic clock, or of ``LogClock`` in a log of gpsd; `nil` in a track file.
    package var arrival: Double?
    /// Whether it is the first point of a track, a segment or a file.
    package var opensSegment: Bool
    /// Whether gpsd reported it, now or in a log, rather than a track file.
    package var isFromReceiver: Bool

    /// The speed below which a machine stands still, in metres per second.
    static let standingSpeed = 0.5

    /// Creates a fix; everything that is not passed is unknown.
    package init(
        mode: Int = 3,
        time: Date? = nil,
        latitude: Double? = nil,
        longitude: Double? = nil,
        altitude: Double? = nil,
        speed: Double? = nil,
        course: Double? = nil,
        eph: Double? = nil,
        epx: Double? = nil,
        epy: Double? = nil,
        epv: Double? = nil,
        status: Int = 0,
        hdop: Double? = nil,
        statedAccuracy: Double? = nil,
        statedSource: AccuracySource? = nil,
        device: String? = nil,
        arrival: Double? = nil,
        opensSegment: Bool = false,
        isFromReceiver: Bool = true
    ) {
        self.mode = mode
        self.time = time
        self.latitude = latitude
        self.longitude = longitude
        self.altitude = altitude
        self.speed = speed
        self.course = course
        self.eph = eph
        self.epx = epx
        self.epy = epy
        self.epv = epv
        self.status = status
        self.hdop = hdop
        self.statedAccuracy = statedAccuracy
        self.statedSource = statedSource
        self.device = device
        self.arrival = arrival
        self.opensSegment = opensSegment
        self.isFromReceiver = isFromReceiver
    }
}

/// An input of the filter. Reports arrive in the order in which they happened.
package enum Report: Hashable, Sendable {
    case fix(Fix)
    /// The satellite geometry of one device.
    case sky(hdop: Double, device: String?)
    /// A receiver's own error estimate: standard deviations in metres for the fix at `time`.
    case gst(time: Date, latitudeError: Double, longitudeError: Double, device: String?)
    /// The source reconnected.
    case reconnected
    /// A command started updates.
    case started
    /// The following fixes come from another source and are not compared with earlier ones.
    case sourceChanged
}

/// The filter's decision about one fix.
package enum Decision: Hashable, Sendable {
    case accepted(Location)
    case rejected(Rejection)
}

extension Double {
    /// The value, or `nil` if it is not finite.
    var finite: Double? { isFinite ? self : nil }
    /// The value, or `nil` if it is not finite or not above 0, which means "unknown" in gpsd's fields.
    var positive: Double? { isFinite && self > 0 ? self : nil }
    /// The value as an error in metres: like ``positive``, and also `nil` above half of the Earth's circumference.
    var error: Double? { self > 0 && self <= 20_037_508 ? self : nil }
}
