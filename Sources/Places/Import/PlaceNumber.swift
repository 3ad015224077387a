import BackgrounderAPI
import SystemSupport

/// The numbers of a place in a file: their ranges and defaults.
enum PlaceNumber {
    /// Metres.
    static let defaultRadius = 50.0
    static let defaultWidth = 30.0

    /// Returns the metres in `text`; `what` names them in a fault.
    static func metres(_ text: String, _ what: String) throws(ImportFault) -> Double {
        guard let number = number(text), number > 0 else {
            throw ImportFault(.invalid(what, value: text, expected: "a number of metres above 0"))
        }
        return number
    }

    /// Returns the degrees in `text`; 360 is north, as 0 is.
    static func course(_ text: String) throws(ImportFault) -> Double {
        guard let number = number(text), (0...360).contains(number) else {
            throw ImportFault(.invalid("the course", value: text, expected: "a number of degrees from 0 to 360"))
        }
        return number == 360 ? 0 : number
    }

    static func tolerance(_ text: String) throws(ImportFault) -> Double {
        guard let number = number(text), number > 0, number <= 180 else {
            throw ImportFault(
                .invalid("the tolerance", value: text, expected: "a number of degrees above 0, up to 180")
            )
        }
        return number
    }

    /// Returns the position that two texts state.
    static func coordinate(
        latitude: UnsafeBufferPointer<UInt8>,
        longitude: UnsafeBufferPointer<UInt8>
    ) throws(ImportFault) -> Coordinate {
        Coordinate(
            latitude: try degrees(latitude, "the latitude", limit: 90),
            longitude: try degrees(longitude, "the longitude", limit: 180)
        )
    }

    /// Returns the position that two texts state.
    static func coordinate(latitude: String, longitude: String) throws(ImportFault) -> Coordinate {
        try coordinate(latitude: Array(latitude.utf8), longitude: Array(longitude.utf8))
    }

    /// Returns the position that two texts state.
    static func coordinate(latitude: [UInt8], longitude: [UInt8]) throws(ImportFault) -> Coordinate {
        try latitude.withUnsafeBufferPointer { (latitude) throws(ImportFault) in
            try longitude.withUnsafeBufferPointer { (longitude) throws(ImportFault) in
                try coordinate(latitude: latitude, longitude: longitude)
            }
        }
    }

    private static func degrees(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ what: String,
        limit: Int
    ) throws(ImportFault) -> Double {
        guard let number = DecimalNumber.parse(bytes), number.magnitude <= Double(limit) else {
            let value = String(decoding: bytes, as: UTF8.self)
            guard !value.isEmpty else { throw ImportFault(.missing(what, remedy: "add it in degrees")) }
            throw ImportFault(.invalid(what, value: value, expected: "a number from -\(limit) to \(limit)"))
        }
        return number
    }

    private static func number(_ text: String) -> Double? {
        var text = text
        return text.withUTF8 { DecimalNumber.parse($0) }
    }
}
