import BackgrounderAPI
import TestSupport
import Testing

@testable import Places

@Suite(.computing) struct OwnTracksPlacesTests {
    private let rig: ImportRig

    init() throws { rig = try ImportRig() }

    private func waypoints(_ waypoints: String...) -> String {
        #"{"_type":"waypoints","_creator":"test","waypoints":[\#(waypoints.joined(separator: ","))]}"#
    }

    @Test func `waypoints are circles with their radius, and rid is the id`() throws {
        let places = try rig.places(
            waypoints(
                #"{"_type":"waypoint","desc":"Home","lat":52.5,"lon":13.4,"rad":150,"tst":1437552714,"rid":"a1b2"}"#,
                #"{"desc":"Work","lat":-52.5,"lon":-13.4,"rad":80}"#
            ),
            "export.otrw"
        )
        #expect(places.map(\.name) == ["Home", "Work"])
        #expect(places.map(\.circle) == [[52.5, 13.4, 150], [-52.5, -13.4, 80]])
        #expect(places.map(\.sourceId) == ["a1b2", nil])
        #expect(places[0].properties == [:])
    }

    @Test(arguments: ["", #","rad":0"#, #","rad":null"#])
    func `a waypoint without a region has the default radius`(radius: String) throws {
        let places = try rig.places(waypoints(#"{"desc":"A","lat":1,"lon":2\#(radius)}"#))
        #expect(places.map(\.circle) == [[1, 2, 50]])
    }

    @Test func `a single waypoint is a place`() throws {
        let places = try rig.places(#"{"lat":1,"lon":2,"desc":"A","_type":"waypoint"}"#)
        #expect(places.map(\.circle) == [[1, 2, 50]])
    }

    @Test(
        arguments: [
            (#"{"lat":1,"lon":2}"#, #"the name is missing; add a "desc""#),
            (#"{"desc":"A","lon":2}"#, "the latitude is missing; add it in degrees"),
            (#"{"desc":"A","lat":1}"#, "the longitude is missing; add it in degrees"),
            (#"{"desc":"A","lat":91,"lon":2}"#, #"the latitude is "91"; it must be a number from -90 to 90"#),
            (
                #"{"desc":"A","lat":1,"lon":-180.1}"#,
                #"the longitude is "-180.1"; it must be a number from -180 to 180"#
            ),
            (#"{"desc":"A","lat":"x","lon":2}"#, #"the latitude is "x"; it must be a number from -90 to 90"#),
            (
                #"{"desc":"A","lat":1,"lon":2,"rad":-5}"#,
                #"the radius is "-5"; it must be a number of metres above 0"#
            ),
            (#"{"desc":"A","lat":0,"lon":0,"uuid":"F7826DA6"}"#, "a beacon has no position; remove the waypoint"),
            (
                #"{"desc":"B","lat":1,"lon":2}"#,
                #"the name "B" is also that of waypoint 1; rename one, or give each an id"#
            ),
            ("[]", "not an object"),
        ]
    )
    func `a faulty waypoint is refused with its number`(waypoint: String, message: String) throws {
        let document = waypoints(#"{"desc":"B","lat":1,"lon":2}"#, "\n" + waypoint)
        #expect(try rig.refusal(document) == "file:2: waypoint 2: \(message)")
    }

    @Test(
        arguments: [
            (#"{"_type":"waypoints","waypoints":[]}"#, "file: no waypoints; export them in OwnTracks again"),
            (#"{"_type":"waypoints","waypoints":{}}"#, "file:1: damaged JSON: the waypoints are not an array"),
            (
                #"{"_type":"location","lat":1,"lon":2}"#,
                #"file:1: the "_type" is "location", not "waypoints"; export the waypoints"#
            ),
            (#"{"_type":"waypoint"}"#, #"file:1: waypoint 1: the name is missing; add a "desc""#),
        ]
    )
    func `a document without waypoints is refused`(document: String, message: String) throws {
        #expect(try rig.refusal(document) == message)
    }
}
