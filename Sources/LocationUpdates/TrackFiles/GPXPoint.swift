import BackgrounderAPI
import FoundationEssentials
import Glibc
import SystemSupport

/// The elements of a `trkpt` and its extensions that are read.
enum GPXField: Int, CaseIterable {
    case elevation, time, fix, hdop, speed, course, accuracy, verticalAccuracy, accuracySource

    /// The field with this local name; some names count only in GPX itself (`isCore`).
    init?(_ name: UnsafePointer<CChar>, isCore: Bool) {
        // The first letter rules out most names before any comparison.
        switch UInt8(bitPattern: name[0]) {
        case UInt8(ascii: "t") where isCore && strcmp(name, "time") == 0: self = .time
        case UInt8(ascii: "e") where isCore && strcmp(name, "ele") == 0: self = .elevation
        case UInt8(ascii: "f") where isCore && strcmp(name, "fix") == 0: self = .fix
        case UInt8(ascii: "h") where isCore && strcmp(name, "hdop") == 0: self = .hdop
        case UInt8(ascii: "s") where strcmp(name, "speed") == 0: self = .speed
        case UInt8(ascii: "c") where strcmp(name, "course") == 0 || strcmp(name, "cog") == 0: self = .course
        case UInt8(ascii: "a") where strcmp(name, "accuracy") == 0: self = .accuracy
        case UInt8(ascii: "a") where strcmp(name, "accuracySource") == 0: self = .accuracySource
        case UInt8(ascii: "v") where strcmp(name, "verticalAccuracy") == 0: self = .verticalAccuracy
        default: return nil
        }
    }
}

/// A point that is being read.
struct GPXPoint {
    var latitude: Double?
    var longitude: Double?
    var time: Date?
    var mode = 3
    /// The source of the accuracy, as Backgrounder's extension states it.
    var accuracySource: AccuracySource?
    private var values = Values(repeating: nil)
    private var ranks = Ranks(repeating: 0)

    private typealias Values = InlineArray<8, Double?>
    private typealias Ranks = InlineArray<8, Int>

    /// Sets the field unless it has a value of the same or a higher rank.
    mutating func set(_ field: GPXField, _ value: Double?, rank: Int) {
        guard let value, rank > ranks[field.rawValue] else { return }
        values[field.rawValue] = value
        ranks[field.rawValue] = rank
    }

    func fix(opensSegment: Bool) -> Fix {
        Fix(
            mode: mode,
            time: time,
            latitude: latitude,
            longitude: longitude,
            altitude: values[GPXField.elevation.rawValue],
            speed: values[GPXField.speed.rawValue],
            course: values[GPXField.course.rawValue],
            epv: values[GPXField.verticalAccuracy.rawValue],
            hdop: values[GPXField.hdop.rawValue],
            statedAccuracy: values[GPXField.accuracy.rawValue],
            statedSource: accuracySource,
            opensSegment: opensSegment,
            isFromReceiver: false
        )
    }

    /// Returns the time in `<time>`; `nil` if it is invalid. XML Schema has no year 0, which loggers write before their first fix.
    static func time(_ bytes: UnsafeBufferPointer<UInt8>) -> Date? {
        ISO8601.date(utf8: bytes).flatMap { $0.timeIntervalSince1970 >= -62_135_596_800 ? $0 : nil }
    }

    /// Returns gpsd's mode for the content of `<fix>`; an unknown word counts as a 3D fix.
    static func mode(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        let word = String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self)
        return switch word {
        case "none": 1
        case "2d": 2
        default: 3
        }
    }
}
