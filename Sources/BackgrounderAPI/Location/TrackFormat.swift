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

/// A JSON array of locations, one per line, as ``JSON`` encodes them.
private struct JSONTrackEncoder: TrackEncoder {
    var isFirst = true

    mutating func begin() -> String { "[" }

    mutating func append(_ location: Location, index: Int?, to text: inout TextBuffer) {
        text.append(isFirst ? "\n" : ",\n")
        isFirst = false
        text.append("{")
        if let source = location.accuracySource {
            text.append("\"accuracySource\":\"")
            text.append(text: source.rawValue)
            text.append("\",")
        }
        text.appendMember("\"altitude\":", location.altitude, then: ",")
        text.appendMember("\"course\":", location.course, then: ",")
        text.appendMember("\"horizontalAccuracy\":", location.horizontalAccuracy, then: ",")
        if let index {
            text.append("\"index\":")
            text.append(UInt64(index))
            text.append(",")
        }
        text.appendMember("\"latitude\":", location.latitude, then: ",")
        text.appendMember("\"longitude\":", location.longitude, then: ",\"mode\":")
        text.append(UInt64(location.mode))
        if let segmentStart = location.segmentStart {
            text.append(segmentStart ? ",\"segmentStart\":true" : ",\"segmentStart\":false")
        }
        text.appendMember(",\"speed\":", location.speed)
        text.append(",\"timestamp\":\"")
        text.append(location.timestamp)
        text.append("\"")
        text.appendMember(",\"verticalAccuracy\":", location.verticalAccuracy)
        text.append("}")
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
        text.append("{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[")
        text.appendPosition(location)
        text.append("]},\"properties\":{")
        if let index {
            text.append("\"index\":")
            text.append(UInt64(index))
            text.append(",")
        }
        text.appendMember("\"horizontalAccuracy\":", location.horizontalAccuracy, then: ",")
        if let source = location.accuracySource {
            text.append("\"accuracySource\":\"")
            text.append(text: source.rawValue)
            text.append("\",")
        }
        text.appendMember("\"verticalAccuracy\":", location.verticalAccuracy, then: ",")
        text.appendMember("\"speed\":", location.speed, then: ",")
        text.appendMember("\"course\":", location.course, then: ",")
        text.append("\"timestamp\":\"")
        text.append(location.timestamp)
        text.append("\",\"mode\":")
        text.append(UInt64(location.mode))
        if let segmentStart = location.segmentStart {
            text.append(segmentStart ? ",\"segmentStart\":true" : ",\"segmentStart\":false")
        }
        text.append("}}")
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
            closeSegment(in: &text)
            first = location
        } else if let start = first {
            first = nil
            isInLine = true
            text.append("<Placemark><TimeStamp><when>")
            text.append(start.timestamp)
            text.append("</when></TimeStamp><LineString><coordinates>\n")
            text.appendPosition(start)
            text.append("\n")
            text.appendPosition(location)
            text.append("\n")
        } else {
            text.appendPosition(location)
            text.append("\n")
        }
    }

    mutating func end() -> String {
        var text = TextBuffer()
        closeSegment(in: &text)
        text.append("</Document>\n</kml>\n")
        return text.string
    }

    private mutating func closeSegment(in text: inout TextBuffer) {
        defer { (first, isInLine) = (nil, false) }
        if isInLine { return text.append("</coordinates></LineString></Placemark>\n") }
        guard let only = first else { return }
        text.append("<Placemark><TimeStamp><when>")
        text.append(only.timestamp)
        text.append("</when></TimeStamp><Point><coordinates>")
        text.appendPosition(only)
        text.append("</coordinates></Point></Placemark>\n")
    }
}

/// RFC 4180 with a header; no field needs quotes.
private struct CSVTrackEncoder: TrackEncoder {
    let isIndexed: Bool

    mutating func begin() -> String {
        (isIndexed ? "index," : "") + "latitude,longitude,altitude,horizontalAccuracy,accuracySource,verticalAccuracy,"
            + "speed,course,timestamp,mode,segmentStart\r\n"
    }

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

    /// Appends `name`, the number and `separator` if there is a value.
    fileprivate mutating func appendMember(_ name: StaticString, _ value: Double?, then separator: StaticString = "") {
        guard let value else { return }
        append(name)
        append(shortest: value)
        append(separator)
    }

    /// Appends longitude, latitude and, if known, altitude, as GeoJSON and KML write a position.
    fileprivate mutating func appendPosition(_ location: Location) {
        append(shortest: location.longitude)
        append(",")
        append(shortest: location.latitude)
        appendMember(",", location.altitude)
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
