import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

@Suite struct TrackFormatTests {
    /// Three segments, of two, one and three points, with extreme numbers.
    private let track: [Location] = {
        func location(
            _ latitude: Double,
            _ longitude: Double,
            at seconds: Double,
            _ change: (inout Location) -> Void = { _ in }
        ) -> Location {
            var location = Location(
                latitude: latitude,
                longitude: longitude,
                timestamp: Date(timeIntervalSince1970: seconds)
            )
            change(&location)
            return location
        }
        return [
            location(37.33482105, -122.03350886, at: 0) {
                $0.altitude = -12.5
                ($0.horizontalAccuracy, $0.accuracySource, $0.verticalAccuracy) = (5, .gst, 7.25)
                ($0.speed, $0.course, $0.segmentStart) = (15.9, 255.94, true)
            },
            location(0.00001, -0.000000123, at: 1) { $0.speed = 1e-7 },
            location(-90, 180, at: 2) { $0.segmentStart = true },
            location(90, -180, at: 100.5) { ($0.segmentStart, $0.mode) = (true, 2) },
            location(89.999999999, 179.999999999, at: 101),
            location(1, 2, at: 102),
        ]
    }()

    private func write(_ locations: [Location], as format: TrackFormat) -> String {
        var encoder = format.makeEncoder()
        return encoder.begin() + locations.map { encoder.append($0) }.joined() + encoder.end()
    }

    @Test func `JSON is an array with one location a line`() throws {
        let text = write(track, as: .json)
        #expect(try JSON.decode([Location].self, from: Data(text.utf8)) == track)
        #expect(text.split(separator: "\n").count == track.count + 2)
        #expect(write([], as: .json) == "[]\n")
    }

    @Test func `a line of the JSON array is what every other reply has for the location`() throws {
        // JSON writes numbers near 0 with an exponent, which is the same number.
        for location in track where location.latitude.magnitude > 0.001 {
            #expect(write([location], as: .json) == "[\n\(try JSON.line(location))\n]\n")
        }
    }

    @Test func `GeoJSON is a collection of points, longitude first, with the rest as properties`() throws {
        let value = try JSONValue(parsing: write(track, as: .geojson))
        #expect(value["type"] == .string("FeatureCollection"))
        let features = try #require(value["features"]?.array)
        #expect(features.count == track.count)
        for (feature, location) in zip(features, track) {
            #expect(feature["type"] == .string("Feature"))
            #expect(feature["geometry"]?["type"] == .string("Point"))
            let coordinates = feature["geometry"]?["coordinates"]?.array?.compactMap(\.number)
            #expect(coordinates == [location.longitude, location.latitude] + (location.altitude.map { [$0] } ?? []))
            let properties = try #require(feature["properties"]?.object)
            #expect(properties["timestamp"] == .string(ISO8601.string(location.timestamp)))
            #expect(properties["speed"]?.number == location.speed)
            #expect(properties["mode"] == .number(Double(location.mode)))
            #expect(properties["segmentStart"] == location.segmentStart.map { .bool($0) })
            #expect(properties["latitude"] == nil)
            #expect(properties["altitude"] == nil)
        }
        #expect(try JSONValue(parsing: write([], as: .geojson))["features"] == .array([]))
    }

    @Test func `GPX keeps the segments, and a point's elements are in the order of the schema`() throws {
        let root = try XMLTree.parse(write(track, as: .gpx))
        #expect(root.name == "gpx")
        #expect(root.attributes["version"] == "1.1")
        #expect(root.attributes["creator"]?.isEmpty == false)
        #expect(root.attributes["xmlns"] == "http://www.topografix.com/GPX/1/1")
        #expect(root.attributes["xmlns:bg"] == "https://backgrounder.example/gpx/1")
        #expect(root.children.map(\.name) == ["trk"])
        let segments = root.children[0].children
        #expect(segments.map(\.name) == ["trkseg", "trkseg", "trkseg"])
        #expect(segments.map(\.children.count) == [2, 1, 3])
        let points = segments.flatMap(\.children)
        let order = ["ele", "time", "fix", "extensions"]
        for (point, location) in zip(points, track) {
            #expect(point.name == "trkpt")
            #expect(Double(point.attributes["lat"] ?? "") == location.latitude)
            #expect(point.children.map(\.name) == order.filter { point[$0] != nil })
            #expect(point["time"]?.text == ISO8601.string(location.timestamp))
            #expect(point["fix"]?.text == (location.mode == 2 ? "2d" : "3d"))
            #expect((point["ele"]?.text).flatMap { Double($0) } == location.altitude)
            #expect(point["hdop"] == nil)
        }
        let own = try #require(points[0]["extensions"]).children
        #expect(
            own.map(\.name) == ["bg:accuracy", "bg:verticalAccuracy", "bg:speed", "bg:course", "bg:accuracySource"]
        )
        #expect(own.map(\.text) == ["5", "7.25", "15.9", "255.94", "gst"])
        #expect(points[2]["extensions"] == nil)
    }

    @Test func `GPX has -180 for a longitude of 180 degrees, which its schema excludes`() throws {
        let points = try XMLTree.parse(write(track, as: .gpx)).children[0].children.flatMap(\.children)
        #expect(
            points.map { $0.attributes["lon"] } == [
                "-122.03350886", "-0.000000123", "-180", "-180", "179.999999999", "2",
            ]
        )
    }

    @Test func `KML has a line for each segment, and a point for a segment of one point`() throws {
        let root = try XMLTree.parse(write(track, as: .kml))
        #expect(root.name == "kml")
        #expect(root.attributes["xmlns"] == "http://www.opengis.net/kml/2.2")
        let document = root.children[0]
        #expect(document.children.map(\.name) == ["name", "Placemark", "Placemark", "Placemark"])
        let placemarks = document.children.dropFirst()
        #expect(
            placemarks.map { $0.children.map(\.name) } == [
                ["TimeStamp", "LineString"], ["TimeStamp", "Point"], ["TimeStamp", "LineString"],
            ]
        )
        let coordinates = placemarks.map {
            $0.children[1]["coordinates"]?.text.split(whereSeparator: \.isWhitespace) ?? []
        }
        #expect(coordinates[0] == ["-122.03350886,37.33482105,-12.5", "-0.000000123,0.00001"])
        #expect(coordinates[1] == ["180,-90"])
        #expect(coordinates[2] == ["-180,90", "179.999999999,89.999999999", "2,1"])
        #expect(placemarks.last?["TimeStamp"]?["when"]?.text == "1970-01-01T00:01:40.500Z")
    }

    @Test func `a track without a segment start is written as one segment`() throws {
        let rest = Array(track.suffix(2))
        #expect(try XMLTree.parse(write(rest, as: .gpx)).children[0].children.map(\.children.count) == [2])
        #expect(try XMLTree.parse(write(rest, as: .kml)).children[0].children.map(\.name) == ["name", "Placemark"])
    }

    @Test func `an empty track is written as a complete document`() throws {
        #expect(try XMLTree.parse(write([], as: .gpx)).children[0].children.isEmpty)
        #expect(try XMLTree.parse(write([], as: .kml)).children[0].children.map(\.name) == ["name"])
        #expect(write([], as: .csv).split(whereSeparator: \.isNewline).count == 1)
    }

    @Test func `CSV has a header, a row with all fields for each point, and CRLF line ends`() {
        let text = write(track, as: .csv)
        #expect(text.hasSuffix("\r\n"))
        let rows = text.components(separatedBy: "\r\n").dropLast().map { $0.components(separatedBy: ",") }
        #expect(
            rows[0] == [
                "latitude", "longitude", "altitude", "horizontalAccuracy", "accuracySource", "verticalAccuracy",
                "speed", "course",
                "timestamp", "mode", "segmentStart",
            ]
        )
        #expect(rows.count == track.count + 1)
        #expect(rows.allSatisfy { $0.count == 11 })
        #expect(
            rows[1] == [
                "37.33482105", "-122.03350886", "-12.5", "5", "gst", "7.25", "15.9", "255.94",
                "1970-01-01T00:00:00.000Z", "3", "true",
            ]
        )
        #expect(
            rows[2] == [
                "0.00001", "-0.000000123", "", "", "", "", "0.0000001", "", "1970-01-01T00:00:01.000Z", "3", "",
            ]
        )
    }

    @Test(arguments: [TrackFormat.gpx, .kml, .csv, .geojson])
    func `numbers have no exponents and are read back exactly`(format: TrackFormat) throws {
        var generator = SeededGenerator(seed: 7)
        var values = [1e-300, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 1e16, 0x1p70, -1e-5, -0.0, 0.1, 1e-4]
        values += (0..<500).map { _ in
            Double.random(in: -1...1, using: &generator) * pow(10, Double.random(in: -9...5, using: &generator))
        }
        for value in values {
            let location = Location(
                latitude: 1,
                longitude: 2,
                altitude: value,
                timestamp: Date(timeIntervalSince1970: 0)
            )
            let text = write([location], as: format)
            let found: Substring? =
                switch format {
                case .gpx: text.firstMatch(of: /<ele>([^<]*)<\/ele>/)?.1
                case .kml: text.firstMatch(of: /<coordinates>2,1,([^<]*)</)?.1
                case .csv: text.split(whereSeparator: \.isNewline)[1].split(separator: ",")[2]
                default: text.firstMatch(of: /\[2,1,([^\]]*)\]/)?.1
                }
            let number = try #require(found)
            #expect(!number.lowercased().contains("e"), "\(value)")
            #expect(Double(number) == value, "\(number)")
        }
    }

    @Test func `every format has its media type`() {
        #expect(
            TrackFormat.allCases.map(\.mediaType) == [
                "application/json", "application/geo+json", "application/gpx+xml",
                "application/vnd.google-earth.kml+xml",
                "text/csv; charset=utf-8",
            ]
        )
    }

    @Test(arguments: [1, 7, 4096]) func `CSV is read back unchanged, in pieces of any length`(length: Int) throws {
        let text = Array(write(track, as: .csv).utf8)
        var decoder = CSVTrackDecoder()
        var read: [Location] = []
        for start in stride(from: 0, to: text.count, by: length) {
            try decoder.feed(text[start..<min(start + length, text.count)]) { read.append($0) }
        }
        #expect(read == track)
    }

    @Test(arguments: ["1,2,3", "x,2,,,,,,,2026-11-21T00:00:00Z,3,", "1,2,,,,,,,yesterday,3,"])
    func `an invalid CSV line is an error that contains the line`(line: String) {
        var decoder = CSVTrackDecoder()
        #expect(throws: CSVTrackDecoder.MalformedLine(line: line)) {
            try decoder.feed("heading\r\n\(line)\r\n".utf8) { _ in }
        }
    }
}
