package import BackgrounderAPI
package import FoundationEssentials

/// What a source read, before anything was judged.
///
/// Degrees are WGS84, lengths metres, speeds metres a second. What the source did not say, or said without sense, is `nil`.
package struct Fix: Codable, Hashable, Sendable {
    /// gpsd's: 0 and 1 are no fix, 2 is one without altitude, 3 one with.
    package var mode: Int
    /// Whole milliseconds.
    package var time: Date?
    package var latitude: Double?
    package var longitude: Double?
    /// Above mean sea level where the source knows it, else above the ellipsoid.
    package var altitude: Double?
    package var speed: Double?
    package var course: Double?
    /// gpsd's estimated horizontal error, in its own scale.
    package var eph: Double?
    package var epx: Double?
    package var epy: Double?
    /// Vertical error as the source states it.
    package var epv: Double?
    /// gpsd's kind of fix: 2 DGPS, 3 RTK fixed, 4 RTK float.
    package var status: Int
    package var hdop: Double?
    /// The horizontal accuracy that a file states.
    package var statedAccuracy: Double?
    /// Where that came from before it was in the file.
    package var statedSource: AccuracySource?
    package var device: String?
    /// When it arrived, seconds of the monotonic clock; `nil` for a file.
    package var arrival: Double?
    /// The first point of a track, of a segment or of a file.
    package var opensSegment: Bool
    /// Whether a receiver made it now.
    package var isLive: Bool

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
        isLive: Bool = true
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
        self.isLive = isLive
    }
}

/// Everything that the filter is told, in the order in which it happened.
package enum Report: Hashable, Sendable {
    case fix(Fix)
    /// The geometry of the satellites of one device.
    case sky(hdop: Double, device: String?)
    /// A receiver's own error estimate: standard deviations in metres for the fix of `time`.
    case gst(time: Date, latitudeError: Double, longitudeError: Double, device: String?)
    /// The connection to the source is a new one.
    case reconnected
    /// Updates were started by a command.
    case started
    /// The fixes that follow come from elsewhere and are not compared with those before.
    case sourceChanged
}

/// What became of one fix.
package enum Decision: Hashable, Sendable {
    case accepted(Location)
    case rejected(Rejection)
}

extension Double {
    /// The value, or `nil` where it is not finite.
    var finite: Double? { isFinite ? self : nil }
    /// The value, or `nil` where it is not finite or not above 0: the field's way to say "unknown".
    var positive: Double? { isFinite && self > 0 ? self : nil }
    /// An error in metres: as ``positive``, and what is larger than half way around the Earth is unknown too.
    var error: Double? { self > 0 && self <= 20_037_508 ? self : nil }
}
