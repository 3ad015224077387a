import FoundationEssentials

/// A format that points can be written in, one after the other.
package enum TrackFormat: String, CaseIterable, Sendable {
    case json, geojson, gpx, kml, csv

    /// The media type of a response in this format.
    package var mediaType: String {
        switch self {
        case .json: "application/json"
        case .geojson: "application/geo+json"
        case .gpx: "application/gpx+xml"
        case .kml: "application/vnd.google-earth.kml+xml"
        case .csv: "text/csv; charset=utf-8"
        }
    }

    /// A writer for one document; an indexed one has an `index` at each point where the format has a place for it.
    package func makeEncoder(indexed: Bool = false) -> any TrackEncoder {
        switch self {
        case .json: JSONTrackEncoder()
        case .geojson: GeoJSONTrackEncoder()
        case .gpx: GPXTrackEncoder()
        case .kml: KMLTrackEncoder()
        case .csv: CSVTrackEncoder(isIndexed: indexed)
        }
    }
}

/// Writes points as text, any number of them in constant memory: ``begin()``, ``append(_:)`` for each, ``end()``.
package protocol TrackEncoder {
    mutating func begin() -> String
    mutating func append(_ location: Location, index: Int?) -> String
    mutating func end() -> String
}

extension TrackEncoder {
    package mutating func append(_ location: Location) -> String {
        append(location, index: nil)
    }
}

/// Our elements within GPX's `<extensions>`.
package enum GPXExtension {
    package static let namespace = "https://backgrounder.example/gpx/1"
}

/// An array of locations, one a line.
private struct JSONTrackEncoder: TrackEncoder {
    var isFirst = true

    mutating func begin() -> String { "[" }

    mutating func append(_ location: Location, index: Int?) -> String {
        defer { isFirst = false }
        // A Location holds finite numbers only, so that it always encodes.
        return (isFirst ? "\n" : ",\n")
            + ((try? JSON.line(IndexedLocation(index: index, location: location))) ?? "null")
    }

    mutating func end() -> String { isFirst ? "]\n" : "\n]\n" }
}

/// RFC 7946: a feature collection with one point a feature, so that nothing that is known of it gets lost.
private struct GeoJSONTrackEncoder: TrackEncoder {
    var isFirst = true

    mutating func begin() -> String { #"{"type":"FeatureCollection","features":["# }

    mutating func append(_ location: Location, index: Int?) -> String {
        defer { isFirst = false }
        let altitude = location.altitude.map { "," + decimal($0) } ?? ""
        let coordinates = "[\(decimal(location.longitude)),\(decimal(location.latitude))\(altitude)]"
        let index = Field(name: "index", value: index.map { String($0) })
        let properties = ([index] + fields(of: location).dropFirst(3))
            .compactMap { field in field.value.map { "\"\(field.name)\":\(field.isText ? "\"\($0)\"" : $0)" } }
        return (isFirst ? "\n" : ",\n")
            + #"{"type":"Feature","geometry":{"type":"Point","coordinates":\#(coordinates)},"#
            + #""properties":{\#(properties.joined(separator: ","))}}"#
    }

    mutating func end() -> String { "\n]}\n" }
}

/// GPX 1.1; a segment of ours is a `<trkseg>`.
private struct GPXTrackEncoder: TrackEncoder {
    var isInSegment = false

    mutating func begin() -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <gpx version="1.1" creator="Backgrounder \(Backgrounder.version)" xmlns="http://www.topografix.com/GPX/1/1" \
        xmlns:bg="\(GPXExtension.namespace)">
        <trk>

        """
    }

    mutating func append(_ location: Location, index: Int?) -> String {
        var text = ""
        if !isInSegment || location.segmentStart == true {
            text += isInSegment ? "</trkseg>\n<trkseg>\n" : "<trkseg>\n"
            isInSegment = true
        }
        // The schema's longitudes end before 180.
        let longitude = location.longitude == 180 ? -180 : location.longitude
        text += "<trkpt lat=\"\(decimal(location.latitude))\" lon=\"\(decimal(longitude))\">"
        if let altitude = location.altitude { text += "<ele>\(decimal(altitude))</ele>" }
        text += "<time>\(ISO8601.string(location.timestamp))</time><fix>\(location.mode == 2 ? "2d" : "3d")</fix>"
        let own: [(String, String?)] = [
            ("accuracy", location.horizontalAccuracy.map(decimal)),
            ("verticalAccuracy", location.verticalAccuracy.map(decimal)),
            ("speed", location.speed.map(decimal)),
            ("course", location.course.map(decimal)),
            ("accuracySource", location.accuracySource?.rawValue),
        ]
        let elements = own.compactMap { name, value in value.map { "<bg:\(name)>\($0)</bg:\(name)>" } }
        if !elements.isEmpty { text += "<extensions>\(elements.joined())</extensions>" }
        return text + "</trkpt>\n"
    }

    mutating func end() -> String { (isInSegment ? "</trkseg>\n" : "") + "</trk>\n</gpx>\n" }
}

/// KML 2.2: a line a segment, and a point where a segment has no second one.
private struct KMLTrackEncoder: TrackEncoder {
    /// The first point of a segment, kept back until it is known to be a line.
    var first: Location?
    var isInLine = false

    mutating func begin() -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <kml xmlns="http://www.opengis.net/kml/2.2">
        <Document>
        <name>Backgrounder</name>

        """
    }

    mutating func append(_ location: Location, index: Int?) -> String {
        var text = ""
        if location.segmentStart == true || (first == nil && !isInLine) {
            text = closeSegment()
            first = location
        } else if let start = first {
            first = nil
            isInLine = true
            text = "<Placemark><TimeStamp><when>\(ISO8601.string(start.timestamp))</when></TimeStamp>"
            text += "<LineString><coordinates>\n\(coordinates(start))\n\(coordinates(location))\n"
        } else {
            text = coordinates(location) + "\n"
        }
        return text
    }

    mutating func end() -> String { closeSegment() + "</Document>\n</kml>\n" }

    private mutating func closeSegment() -> String {
        defer { (first, isInLine) = (nil, false) }
        if isInLine { return "</coordinates></LineString></Placemark>\n" }
        guard let only = first else { return "" }
        return "<Placemark><TimeStamp><when>\(ISO8601.string(only.timestamp))</when></TimeStamp>"
            + "<Point><coordinates>\(coordinates(only))</coordinates></Point></Placemark>\n"
    }

    private func coordinates(_ location: Location) -> String {
        "\(decimal(location.longitude)),\(decimal(location.latitude))"
            + (location.altitude.map { "," + decimal($0) } ?? "")
    }
}

/// RFC 4180 with a header; no field of ours needs quotes.
private struct CSVTrackEncoder: TrackEncoder {
    let isIndexed: Bool

    mutating func begin() -> String {
        let origin = Location(latitude: 0, longitude: 0, timestamp: Date(timeIntervalSince1970: 0))
        return line((isIndexed ? ["index"] : []) + fields(of: origin).map(\.name))
    }

    mutating func append(_ location: Location, index: Int?) -> String {
        line((isIndexed ? [index.map { String($0) } ?? ""] : []) + fields(of: location).map { $0.value ?? "" })
    }

    mutating func end() -> String { "" }

    private func line(_ cells: [String]) -> String {
        cells.joined(separator: ",") + "\r\n"
    }
}

/// A location with its place in the file that it was read from; in JSON one object.
private struct IndexedLocation: Encodable {
    enum CodingKeys: CodingKey {
        case index
    }

    var index: Int?
    var location: Location

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(index, forKey: .index)
        try location.encode(to: encoder)
    }
}

private struct Field {
    var name: String
    var value: String?
    var isText = false
}

/// The position first, then the rest in the order of the value.
private func fields(of location: Location) -> [Field] {
    [
        Field(name: "latitude", value: decimal(location.latitude)),
        Field(name: "longitude", value: decimal(location.longitude)),
        Field(name: "altitude", value: location.altitude.map(decimal)),
        Field(name: "horizontalAccuracy", value: location.horizontalAccuracy.map(decimal)),
        Field(name: "accuracySource", value: location.accuracySource?.rawValue, isText: true),
        Field(name: "verticalAccuracy", value: location.verticalAccuracy.map(decimal)),
        Field(name: "speed", value: location.speed.map(decimal)),
        Field(name: "course", value: location.course.map(decimal)),
        Field(name: "timestamp", value: ISO8601.string(location.timestamp), isText: true),
        Field(name: "mode", value: String(location.mode)),
        Field(name: "segmentStart", value: location.segmentStart.map { String($0) }),
    ]
}

/// The shortest decimal that reads back as `value`, never with an exponent, which XML Schema's decimals do not have.
private func decimal(_ value: Double) -> String {
    let text = value.description
    guard let exponentMark = text.firstIndex(of: "e"), let exponent = Int(text[text.index(after: exponentMark)...])
    else {
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
    let digits = text[..<exponentMark].filter(\.isNumber)
    let sign = value < 0 ? "-" : ""
    if exponent < 0 { return "\(sign)0." + String(repeating: "0", count: -exponent - 1) + digits }
    // From 2^53 on, where the exponents begin, a number has no fraction.
    return sign + digits + String(repeating: "0", count: max(0, exponent + 1 - digits.count))
}
