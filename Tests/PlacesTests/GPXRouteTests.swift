import BackgrounderAPI
import TestSupport
import Testing

@testable import Places

@Suite(.computing) struct GPXRouteTests {
    private let rig: ImportRig

    init() throws { rig = try ImportRig() }

    private func route(_ inner: String) throws -> RouteDefinition {
        try RouteFile.gpx(try rig.scratch.write("<gpx>\(inner)</gpx>", to: "a.gpx"))
    }

    private func refusal(_ content: String) throws -> String {
        rig.message(try rig.scratch.write(content, to: "a.gpx")) { path throws(PlaceFileFault) in
            _ = try RouteFile.gpx(path)
        }
    }

    private func point(_ element: String, _ latitude: Int, _ name: String = "") -> String {
        "<\(element) lat=\"\(latitude)\" lon=\"0\">\(name.isEmpty ? "" : "<name>\(name)</name>")</\(element)>"
    }

    @Test func `a route has its points as shape and its named points as stops`() throws {
        let points = [point("rtept", 1, "A"), point("rtept", 2), point("rtept", 3, " B "), point("rtept", 1, "A")]
        let route = try route("<rte><name>Tour</name>\(points.joined())</rte>" + point("wpt", 9, "no"))
        #expect(route.name == "Tour")
        #expect(route.shape.map(\.latitude) == [1, 2, 3, 1])
        #expect(route.stops.map(\.name) == ["A", "B", "A"])
        #expect(route.stops.map(\.sequence) == [1, 2, 3])
        #expect(route.stops.map(\.coordinate.latitude) == [1, 3, 1])
        #expect(route.stops.map(\.arrival) == [nil, nil, nil])
        #expect(route.shapeDistances == nil)
    }

    @Test func `a track is the shape, and the waypoints are the stops`() throws {
        let segments = [
            "<trkseg>\(point("trkpt", 1))\(point("trkpt", 2))</trkseg>", "<trkseg>\(point("trkpt", 3))</trkseg>",
        ]
        let route = try route(
            point("wpt", 1, "A") + point("wpt", 2) + point("wpt", 3, "B")
                + "<trk><name>T</name>\(segments.joined())</trk>"
        )
        #expect(route.name == "T")
        #expect(route.shape.map(\.latitude) == [1, 2, 3])
        #expect(route.stops.map(\.name) == ["A", "B"])
    }

    @Test func `with a track and a route, the route has the stops`() throws {
        let route = try route(
            "<rte>\(point("rtept", 1, "A"))\(point("rtept", 3, "B"))</rte>"
                + "<trk><name>T</name><trkseg>\(point("trkpt", 1))\(point("trkpt", 2))\(point("trkpt", 3))</trkseg></trk>"
        )
        #expect(route.name == "T")
        #expect(route.shape.map(\.latitude) == [1, 2, 3])
        #expect(route.stops.map(\.name) == ["A", "B"])
    }

    @Test(
        arguments: [
            (
                "<gpx><wpt lat=\"1\" lon=\"1\"><name>A</name></wpt></gpx>",
                "a.gpx: no track or route with 2 points; add a trk or rte"
            ),
            (
                "<gpx><rte><rtept lat=\"1\" lon=\"1\"><name>A</name></rtept><rtept lat=\"1\" lon=\"1\"/></rte></gpx>",
                "a.gpx: fewer than 2 stops; name the points of the route, or add waypoints"
            ),
            ("<gpx><trk></trk>\n<trk></trk></gpx>", "a.gpx:2: a second track; keep the one of the route"),
            ("<gpx><rte></rte>\n<rte></rte></gpx>", "a.gpx:2: a second route; keep one"),
            (
                "<gpx>\n<trk><trkseg>\n<trkpt lat=\"91\" lon=\"1\"/></trkseg></trk></gpx>",
                "a.gpx:3: the latitude is \"91\"; it must be a number from -90 to 90"
            ),
            ("<gpx>\n", "a.gpx:2: damaged XML: no element found"),
            ("name,latitude,longitude", "a.gpx: not a GPX file; name one with a track or route"),
            (
                "<gpx><rte>" + String(repeating: "<rtept lat=\"1\" lon=\"1\"><name>A</name></rtept>", count: 10_001)
                    + "</rte></gpx>",
                "a.gpx:1: more than 10000 stops; keep those of one trip"
            ),
            (
                "<gpx><trk><trkseg>" + String(repeating: "<trkpt lat=\"1\" lon=\"1\"/>", count: 1_000_001)
                    + "</trkseg></trk></gpx>",
                "a.gpx:1: more than 1000000 positions; simplify the track"
            ),
        ]
    )
    func `a file that is not a route is refused`(content: String, message: String) throws {
        #expect(try refusal(content) == message)
    }

    @Test func `a missing file is refused`() {
        let message = rig.message(rig.scratch.file("none")) { path throws(PlaceFileFault) in _ = try RouteFile.gpx(path)
        }
        #expect(message == "none: no such file; check the path")
    }
}
