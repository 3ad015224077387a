import FoundationEssentials
package import SystemSupport

/// A format for writing points as a stream.
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

    /// Returns an encoder for one document. If `indexed`, each point has an `index` in formats with a place for it.
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

/// An encoder of any number of points as text in constant memory: ``begin()``, ``append(_:)`` for each, ``end()``.
package protocol TrackEncoder {
    /// Returns the beginning of the document.
    mutating func begin() -> String
    /// Appends a point to `text`.
    mutating func append(_ location: Location, index: Int?, to text: inout TextBuffer)
    /// Returns the end of the document.
    mutating func end() -> String
}

extension TrackEncoder {
    /// Returns the text of a point.
    package mutating func append(_ location: Location) -> String {
        var text = TextBuffer()
        append(location, index: nil, to: &text)
        return text.string
    }
}

/// Backgrounder's elements in GPX's `<extensions>`.
package enum GPXExtension {
    package static let namespace = "https://backgrounder.example/gpx/1"
}

/// A JSON array of locations, one per line.
private struct JSONTrackEncoder: TrackEncoder {
    var isFirst = true

    mutating func begin() -> String { "[" }

    mutating func append(_ location: Location, index: Int?, to text: inout TextBuffer) {
        text.append(isFirst ? "\n" : ",\n")
        isFirst = false
        // A Location has only finite numbers, so it always encodes.
        text.append(text: (try? JSON.line(IndexedLocation(index: index, location: location))) ?? "null")
    }

    mutating func end() -> String { isFirst ? "]\n" : "\n]\n" }
}

/// RFC 7946: a feature collection with one feature per point, which preserves all properties.
private struct GeoJSONTrackEncoder: TrackEncoder {
    var isFirst = true

    mutating func begin() -> String { #"{"type":"FeatureCollection","features":["# }

    mutating func append(_ location: Location, index: Int?, to text: inout TextBuffer) {
        text.append(isFirst ? "\n" : ",\n")
        isFirst = false
        let altitude = location.altitude.map { "," + decimal($0) } ?? ""
        let coordinates = "[\(decimal(location.longitude)),\(decimal(location.latitude))\(altitude)]"
        let index = Field(name: "index", value: index.map { String($0) })
        let properties = ([index] + fields(of: location).dropFirst(3))
            .compactMap { field in field.value.map { "\"\(field.name)\":\(field.isText ? "\"\($0)\"" : $0)" } }
        text.append(text: #"{"type":"Feature","geometry":{"type":"Point","coordinates":\#(coordinates)},"#)
        text.append(text: #""properties":{\#(properties.joined(separator: ","))}}"#)
    }

    mutating func end() -> String { "\n]}\n" }
}

/// GPX 1.1; each segment is a `<trkseg>`.
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

    mutating func append(_ location: Location, index: Int?, to text: inout TextBuffer) {
        if !isInSegment || location.segmentStart == true {
            text.append(isInSegment ? "</trkseg>\n<trkseg>\n" : "<trkseg>\n")
            isInSegment = true
        }
        text.append("<trkpt lat=\"")
        text.append(shortest: location.latitude)
        text.append("\" lon=\"")
        // The schema excludes the longitude 180.
        text.append(shortest: location.longitude == 180 ? -180 : location.longitude)
        text.append("\">")
        text.appendElement("ele", location.altitude)
        text.append("<time>")
        text.append(location.timestamp)
        text.append(location.mode == 2 ? "</time><fix>2d</fix>" : "</time><fix>3d</fix>")
        if location.hasExtensions {
            text.append("<extensions>")
            text.appendElement("bg:accuracy", location.horizontalAccuracy)
            text.appendElement("bg:verticalAccuracy", location.verticalAccuracy)
            text.appendElement("bg:speed", location.speed)
            text.appendElement("bg:course", location.course)
            if let source = location.accuracySource {
                text.append(text: "<bg:accuracySource>\(source.rawValue)</bg:accuracySource>")
            }
            text.append("</extensions>")
        }
        text.append("</trkpt>\n")
    }

    mutating func end() -> String { (isInSegment ? "</trkseg>\n" : "") + "</trk>\n</gpx>\n" }
}

/// KML 2.2: a line per segment, or a point for a segment with a single point.
private struct KMLTrackEncoder: TrackEncoder {
    /// The first point of a segment, held until a second one makes it a line.
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

    mutating func append(_ location: Location, index: Int?, to text: inout TextBuffer) {
        if location.segmentStart == true || (first == nil && !isInLine) {
            text.append(text: closeSegment())
            first = location
        } else if let start = first {
            first = nil
            isInLine = true
            text.append(text: "<Placemark><TimeStamp><when>\(ISO8601.string(start.timestamp))</when></TimeStamp>")
            text.append(text: "<LineString><coordinates>\n\(coordinates(start))\n\(coordinates(location))\n")
        } else {
            text.append(text: coordinates(location) + "\n")
        }
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

/// RFC 4180 with a header; no field needs quotes.
private struct CSVTrackEncoder: TrackEncoder {
    let isIndexed: Bool

    mutating func begin() -> String {
        let origin = Location(latitude: 0, longitude: 0, timestamp: Date(timeIntervalSince1970: 0))
        return ((isIndexed ? ["index"] : []) + fields(of: origin).map(\.name)).joined(separator: ",") + "\r\n"
    }

    /// Appends the fields in the order of `fields(of:)`, without a string for each: this is the fastest format.
    mutating func append(_ location: Location, index: Int?, to text: inout TextBuffer) {
        if isIndexed {
            if let index { text.append(UInt64(index)) }
            text.append(",")
        }
        text.append(shortest: location.latitude)
        text.append(",")
        text.appendCell(location.longitude)
        text.appendCell(location.altitude)
        text.appendCell(location.horizontalAccuracy)
        if let source = location.accuracySource { text.append(text: source.rawValue) }
        text.append(",")
        text.appendCell(location.verticalAccuracy)
        text.appendCell(location.speed)
        text.appendCell(location.course)
        text.append(location.timestamp)
        text.append(location.mode == 2 ? ",2," : ",3,")
        if let segmentStart = location.segmentStart { text.append(segmentStart ? "true" : "false") }
        text.append("\r\n")
    }

    mutating func end() -> String { "" }
}

extension TextBuffer {
    /// Appends a CSV number and a comma.
    fileprivate mutating func appendCell(_ value: Double?) {
        if let value { append(shortest: value) }
        append(",")
    }

    /// Appends a GPX element if there is a value.
    fileprivate mutating func appendElement(_ name: StaticString, _ value: Double?) {
        guard let value else { return }
        append("<")
        append(name)
        append(">")
        append(shortest: value)
        append("</")
        append(name)
        append(">")
    }
}

extension Location {
    fileprivate var hasExtensions: Bool {
        horizontalAccuracy != nil || verticalAccuracy != nil || speed != nil || course != nil || accuracySource != nil
    }
}

/// A location and its index in the file, as one JSON object.
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

/// Returns the fields of a location: the position first, then the rest in the order of the value.
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

/// Returns the shortest decimal that parses as `value`, without an exponent, which XML Schema's decimals do not allow.
private func decimal(_ value: Double) -> String {
    var text = TextBuffer()
    text.append(shortest: value)
    return text.string
}
