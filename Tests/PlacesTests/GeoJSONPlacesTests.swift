import BackgrounderAPI
import TestSupport
import Testing

@testable import Places

@Suite(.computing) struct GeoJSONPlacesTests {
    private let rig: ImportRig

    init() throws { rig = try ImportRig() }

    private func place(_ feature: String) throws -> PlaceDefinition {
        let places = try rig.places(ImportRig.collection(feature))
        return try #require(places.first)
    }

    private func refusal(_ feature: String) throws -> String {
        try rig.refusal(ImportRig.collection(ImportRig.feature(properties: #""name":"First""#), feature))
    }

    @Test func `a point is a circle with its radius, tags, course, tolerance, id and properties`() throws {
        let place = try place(
            ImportRig.feature(
                properties: """
                    "name":"Harbour","radius":120.5,"tags":["a","b"],"course":270,"tolerance":45,"id":"h1","depth":4.50,
                    "open":true,"note":null,"phone":"+49","lists":{"x":[1,"ä\\n",false,null]}
                    """
            )
        )
        #expect(
            place
                == PlaceDefinition(
                    name: "Harbour",
                    sourceId: "h1",
                    tags: ["a", "b"],
                    properties: [
                        "depth": "4.50", "open": "true", "phone": "+49", "lists": #"{"x":[1,"ä\n",false,null]}"#,
                    ],
                    shape: .circle(center: Coordinate(latitude: 52.5, longitude: 13.4), radius: 120.5),
                    course: 270,
                    tolerance: 45
                )
        )
    }

    @Test func `a point without a radius has 50 metres`() throws {
        #expect(try place(ImportRig.feature()).circle == [52.5, 13.4, 50])
    }

    @Test func `numbers may be written as texts`() throws {
        let place = try place(ImportRig.feature(properties: #""name":"A","radius":"20","course":"360""#))
        #expect(place.circle == [52.5, 13.4, 20])
        #expect(place.course == 0)
    }

    @Test func `the source is that of the import`() throws {
        let path = try rig.scratch.write(ImportRig.collection(ImportRig.feature()), to: "a.geojson")
        #expect(try PlaceFile.read(path, source: "tour").map(\.source) == ["tour"])
    }

    @Test func `tags may be a list with commas; empty and repeated ones are dropped`() throws {
        #expect(try place(ImportRig.feature(properties: #""name":"A","tags":" a, b,,a ""#)).tags == ["a", "b"])
        #expect(try place(ImportRig.feature(properties: #""name":"A","tags":["b ",""," b"]"#)).tags == ["b"])
        #expect(try place(ImportRig.feature(properties: #""name":"A","tags":null"#)).tags == [])
    }

    @Test func `the id is the property, else that of the feature, also as a number`() throws {
        let feature =
            #"{"id":7,"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"name":"A"#
        #expect(try place(feature + #""}}"#).sourceId == "7")
        #expect(try place(feature + #"","id":"x"}}"#).sourceId == "x")
        #expect(try place(feature + #"","id":null}}"#).sourceId == "7")
    }

    @Test func `a polygon has its rings without the repeated positions`() throws {
        let place = try place(
            ImportRig.feature(
                "Polygon",
                "[[[0,0],[10,0],[10,10,99],[0,0]],[[2,1],[3,1],[3,2],[2,1]]]",
                properties: #""name":"A","radius":"7","width":"8""#
            )
        )
        #expect(
            place.shape
                == .polygon(rings: [
                    [(0, 0), (0, 10), (10, 10)].map { Coordinate(latitude: $0, longitude: $1) },
                    [(1, 2), (1, 3), (2, 3)].map { Coordinate(latitude: $0, longitude: $1) },
                ])
        )
        #expect(place.properties == ["radius": "7", "width": "8"])
    }

    @Test func `a MultiPolygon is one place`() throws {
        let place = try place(
            ImportRig.feature("MultiPolygon", "[[[[0,0],[1,0],[1,1],[0,0]]],[[[5,5],[6,5],[6,6],[5,5]]]]")
        )
        guard case .polygon(let rings) = place.shape else { throw TestFailure("not a polygon") }
        #expect(rings.map(\.count) == [3, 3])
        #expect(rings[1][0] == Coordinate(latitude: 5, longitude: 5))
    }

    @Test(arguments: [("", 30.0), (#","width":12"#, 12)])
    func `a line has a width of 30 metres unless it states one`(property: String, width: Double) throws {
        let place = try place(
            ImportRig.feature("LineString", "[[1,2],[3,4]]", properties: #""name":"A"\#(property)"#)
        )
        let points = [Coordinate(latitude: 2, longitude: 1), Coordinate(latitude: 4, longitude: 3)]
        #expect(place.shape == .line(points: points, width: width))
    }

    @Test func `members may stand in any order, and foreign ones are ignored`() throws {
        let places = try rig.places(
            """
            \u{FEFF}{"features":[{"properties":{"name":"A"},"bbox":[1,2],"geometry":{"coordinates":[1,2],"crs":{"a":[{}]},"type":"Point"},
            "type":"Feature"}],"crs":null,"type":"FeatureCollection"}\r\n
            """
        )
        #expect(places.map(\.name) == ["A"])
    }

    @Test func `a single feature is a place`() throws {
        #expect(try rig.places(ImportRig.feature()).map(\.name) == ["A"])
    }

    @Test func `a name is trimmed, and newlines in it become spaces`() throws {
        #expect(try place(ImportRig.feature(properties: #""name":" a\n\tb  c ""#)).name == "a  b  c")
        #expect(try place(ImportRig.feature(properties: #""name":12"#)).name == "12")
    }

    @Test func `escapes in strings are decoded, and a lone surrogate is replaced`() throws {
        let name = #"\u00e9\ud83d\ude00\/\\\"\ud800\u0041\ud800\n\udc00"#
        #expect(
            try place(ImportRig.feature(properties: #""name":"\#(name)""#)).name == "é😀/\\\"\u{FFFD}A\u{FFFD} \u{FFFD}"
        )
    }

    @Test func `a name may repeat where the ids differ`() throws {
        let places = try rig.places(
            ImportRig.collection(
                ImportRig.feature(properties: #""name":"A","id":1"#),
                ImportRig.feature(properties: #""name":"A","id":2"#),
                ImportRig.feature(properties: #""name":"A""#)
            )
        )
        #expect(places.map(\.sourceId) == ["1", "2", nil])
    }

    @Test(
        arguments: [
            (ImportRig.feature(properties: ""), #"the name is missing; add a property "name""#),
            (ImportRig.feature(properties: #""name":null"#), #"the name is missing; add a property "name""#),
            (ImportRig.feature(properties: #""name":"  ""#), "the name is missing; add a name"),
            (ImportRig.feature(properties: #""name":"a\u0000""#), "the name has a control character; remove it"),
            (
                ImportRig.feature(properties: #""name":"\#(String(repeating: "x", count: 257))""#),
                "the name is longer than 256 bytes; shorten it"
            ),
            (
                ImportRig.feature(properties: #""name":"A","id":"\#(String(repeating: "x", count: 257))""#),
                "the id is longer than 256 bytes; shorten it"
            ),
            (
                ImportRig.feature(properties: #""name":"First""#),
                #"the name "First" is also that of feature 1; rename one, or give each an id"#
            ),
            (
                ImportRig.feature(properties: #""name":"A","radius":0"#),
                #"the radius is "0"; it must be a number of metres above 0"#
            ),
            (
                ImportRig.feature(properties: #""name":"A","radius":1e999"#),
                #"the radius is "1e999"; it must be a number of metres above 0"#
            ),
            (
                ImportRig.feature("LineString", "[[1,2],[3,4]]", properties: #""name":"A","width":"wide""#),
                #"the width is "wide"; it must be a number of metres above 0"#
            ),
            (
                ImportRig.feature(properties: #""name":"A","course":-1"#),
                #"the course is "-1"; it must be a number of degrees from 0 to 360"#
            ),
            (
                ImportRig.feature(properties: #""name":"A","tolerance":181"#),
                #"the tolerance is "181"; it must be a number of degrees above 0, up to 180"#
            ),
            (
                ImportRig.feature(properties: #""name":"A","tags":5"#),
                "the tags are not a list; use an array of texts or one text with commas"
            ),
            (
                ImportRig.feature(properties: #""name":"A","tags":[5]"#),
                "a tag is not a text; put it in quotation marks"
            ),
            (
                ImportRig.feature(
                    properties: #""name":"A","tags":"\#((0..<33).map(String.init).joined(separator: ","))""#
                ),
                "more than 32 tags; remove some"
            ),
            (
                ImportRig.feature(properties: #""name":"A","tags":"\#(String(repeating: "x", count: 65))""#),
                #"the tag "\#(String(repeating: "x", count: 64))…" is longer than 64 bytes; shorten it"#
            ),
            (
                ImportRig.feature(properties: #""name":"A","\#(String(repeating: "x", count: 129))":1"#),
                #"the property name "\#(String(repeating: "x", count: 64))…" is longer than 128 bytes; shorten it"#
            ),
            (
                ImportRig.feature(
                    properties: #""name":"A",\#((0..<65).map { "\"p\($0)\":1" }.joined(separator: ","))"#
                ),
                "more than 64 properties; remove some"
            ),
            (
                ImportRig.feature(properties: #""name":"A","x":"\#(String(repeating: "x", count: 16_385))""#),
                "a string is longer than 16384 bytes; shorten it"
            ),
            (
                ImportRig.feature(properties: #""name":"A","x":[\#(String(repeating: "1,", count: 9_000))1]"#),
                "a property is longer than 16384 bytes; shorten it"
            ),
        ]
    )
    func `a feature with a faulty property is refused with its number`(feature: String, message: String) throws {
        #expect(try refusal(feature) == "file:1: feature 2: \(message)")
    }

    @Test(
        arguments: [
            (ImportRig.feature("Point", "[13.4]"), "a position has one number; write [longitude, latitude]"),
            (ImportRig.feature("Point", "[]"), "the coordinates are empty"),
            (ImportRig.feature("Point", "[\"1\",2]"), "a coordinate is not a number"),
            (ImportRig.feature("Point", "[null,2]"), "a coordinate is not a number"),
            (ImportRig.feature("Point", "{}"), "the coordinates are not an array"),
            (ImportRig.feature("Point", "[[1,2]]"), "the coordinates are not nested as those of a Point"),
            (ImportRig.feature("Polygon", "[[1,2]]"), "the coordinates are not nested as those of a Polygon"),
            (ImportRig.feature("Polygon", "[[[1,2]],[3,4]]"), "the coordinates are nested unevenly"),
            (ImportRig.feature("Point", "[[1,2],3]"), "the coordinates are nested unevenly"),
            (ImportRig.feature("Polygon", "[[[[[1]]]]]"), "the coordinates are nested too deeply"),
            (
                ImportRig.feature("Point", "[52.5,95]"),
                #"the latitude is "95.0"; it must be from -90 to 90, after the longitude"#
            ),
            (ImportRig.feature("Point", "[181,5]"), #"the longitude is "181.0"; it must be from -180 to 180"#),
            (ImportRig.feature("Point", "[-1e999,5]"), #"the longitude is "inf"; it must be from -180 to 180"#),
            (ImportRig.feature("LineString", "[[1,2]]"), "a line has one position; it needs 2"),
            (
                ImportRig.feature("Polygon", "[[[0,0],[1,0],[0,0]]]"),
                "ring 1 has fewer than 4 positions; a triangle has 4"
            ),
            (
                ImportRig.feature("Polygon", "[[[0,0],[1,0],[1,1],[0,0]],[[0,0],[1,0],[1,1],[0,1]]]"),
                "ring 2 is not closed; repeat its first position at its end"
            ),
            (
                ImportRig.feature("Polygon", "[[[0,0],[1,0],[1,1],[0,0]],[[5,5],[6,5],[6,6],[5,5]]]"),
                "ring 2 of polygon 1 is a hole that is not directly inside the first ring; move or remove it"
            ),
            (
                ImportRig.feature("MultiPoint", "[[0,0],[1,0]]"),
                #"the geometry "MultiPoint" is not supported; use Point, Polygon, MultiPolygon or LineString"#
            ),
            (
                ImportRig.feature("MultiLineString", "[[[0,0],[1,0]]]"),
                #"the geometry "MultiLineString" is not supported; use Point, Polygon, MultiPolygon or LineString"#
            ),
            (
                #"{"type":"Feature","geometry":{"type":"GeometryCollection","geometries":[]},"properties":{"name":"A"}}"#,
                #"the geometry "GeometryCollection" is not supported; use Point, Polygon, MultiPolygon or LineString"#
            ),
            (
                #"{"type":"Feature","geometry":null,"properties":{"name":"A"}}"#,
                "the geometry is missing; add a Point, Polygon or LineString"
            ),
            (
                #"{"type":"Feature","geometry":{"type":"Point"},"properties":{"name":"A"}}"#,
                #""coordinates" is missing; add the positions"#
            ),
            (#"{"type":"Feature","geometry":5,"properties":{"name":"A"}}"#, "the geometry is not an object"),
            (#"{"type":"Feature","properties":5}"#, "the properties are not an object"),
            (#"{"type":"Feature","properties":null}"#, #"the name is missing; add a property "name""#),
            (#"{"type":"Point","coordinates":[1,2]}"#, #"the "type" is not "Feature""#),
            ("5", "not an object"),
        ]
    )
    func `a feature with a faulty geometry is refused with its number`(feature: String, message: String) throws {
        #expect(try refusal(feature) == "file:1: feature 2: \(message)")
    }

    @Test func `a feature with too many properties is refused before all of them are read`() throws {
        let properties = (0..<1_000).map { ",\n\"p\($0)\":1" }.joined()
        let feature = ImportRig.feature(properties: "\"name\":\"A\"\(properties)")
        #expect(try rig.refusal(feature) == "file:69: more than 64 properties; remove some")
    }

    @Test func `a repeated id is refused with the feature that had it first`() throws {
        let features = (1...3).map { ImportRig.feature(properties: #""name":"\#($0)","id":\#($0 % 2)"#) }
        #expect(
            try rig.refusal(ImportRig.collection(features[0], features[1], features[2]))
                == #"file:1: feature 3: the id "1" is also that of feature 1; give each place an id of its own"#
        )
    }

    @Test func `a shape that the caller refuses names its feature and line`() throws {
        let path = try rig.scratch.write("\n" + ImportRig.collection(ImportRig.feature()), to: "a.geojson")
        let message = rig.message(path) { path throws(PlaceFileFault) in
            _ = try PlaceFile.read(path) { _ in "ring 1 crosses itself; correct it" }
        }
        #expect(message == "a.geojson:2: feature 1: ring 1 crosses itself; correct it")
    }

    @Test(
        arguments: [
            (
                #"{"type":"Point","coordinates":[1,2]}"#,
                #"file:1: "Point" without a feature has no name; wrap it in a Feature with a "name""#
            ),
            (#"{"type":"FeatureCollection"}"#, #"file: "features" is missing; add an array of features"#),
            (#"{"type":"FeatureCollection","features":[]}"#, "file: no features; add at least one"),
            (#"{"features":[]}"#, #"file: "type" is missing; write a FeatureCollection"#),
            (#"{"features":[],"features":[]}"#, "file:1: damaged JSON: the features appear twice"),
            (#"{"features":5}"#, "file:1: damaged JSON: the features are not an array"),
            (#"{"type":"Feature","properties":{}}"#, #"file:1: the name is missing; add a property "name""#),
        ]
    )
    func `a document without features is refused`(document: String, message: String) throws {
        #expect(try rig.refusal(document) == message)
    }
}

/// A reason for a test to end.
struct TestFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
