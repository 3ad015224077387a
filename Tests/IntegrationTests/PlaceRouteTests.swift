import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// A route from the command line to the announcements of its stops.
@Suite(.sharing) struct PlaceRouteTests {
    /// Writes a GPX file whose track is that of the walk, with stops at some of its points, and returns its path.
    private static func line(_ service: Service) throws -> String {
        let walk = try String(contentsOfFile: Products.repository("tracks/city-walk.gpx"), encoding: .utf8)
        let points = walk.matches(of: /<trkpt lat="([\d.]+)" lon="([\d.]+)"/).map { ($0.output.1, $0.output.2) }
        let stops = [(0, "Start"), (500, "Bridge"), (850, "Church"), (1499, "End")].map { index, name in
            "<wpt lat=\"\(points[index].0)\" lon=\"\(points[index].1)\"><name>\(name)</name></wpt>"
        }
        let track = (Array(stride(from: 0, to: points.count, by: 10)) + [points.count - 1]).map { index in
            "<trkpt lat=\"\(points[index].0)\" lon=\"\(points[index].1)\"/>"
        }
        return try service.scratch.write(
            """
            <gpx version="1.1" creator="test" xmlns="http://www.topografix.com/GPX/1/1">\(stops.joined())<trk>
            <name>Walk</name><trkseg>\(track.joined())</trkseg></trk></gpx>
            """,
            to: "line.gpx"
        )
    }

    private static func configuration() -> TestConfiguration {
        var configuration = TestConfiguration()
        configuration.source = "gpx:\(Products.repository("tracks/city-walk.gpx"))?rate=40"
        configuration.rest = [
            "places:", "  rules:", "    - {name: next, on: next, tags: [stop], task: gate}",
            "    - {name: soon, on: approach, tags: [stop], eta: 25s, once: trip, task: gate}",
            "tasks: {hooks: {gate: {on: place, command: [\"true\"]}}}",
        ]
        return configuration
    }

    @Test func `the stops of a route are announced in their order, once each, also across a crash`() async throws {
        let service = try Service(Self.configuration())
        try await service.start()
        try await service.run("location", "stop")
        try await service.command(["place", "route"]).expectRefusal(4, ["no route", "place route set"])
        // An imported place of the same name stands for its stop.
        let church = ["place", "add", "Church", "--at", "53.54465,9.98682", "--radius", "25", "--tag", "stop"]
        let id = try await service.run(church).text
        let text = try await service.run("place", "route", "set", "--gpx", Self.line(service)).text
        #expect(text.hasPrefix("Walk: not on the route yet\n"), "\(text)")
        let set: PlaceRouteProgress = try await service.json("place", "route")
        #expect(set.stops.map(\.name) == ["Start", "Bridge", "Church", "End"])
        #expect(set.stops.map(\.state) == [.ahead, .ahead, .ahead, .ahead])
        #expect("\(set.stops[2].placeId)\n" == id)
        #expect(set.progress == nil)
        let events = try service.events()
        try await service.run("location", "start")
        try await events.wait(for: "the church as the next stop") { received in
            try received.places().contains { $0.event == .next && $0.place == "Church" } ? true : nil
        }
        try await service.crash()
        try await service.start()
        try await service.waitForEndOfTrack()
        let route: PlaceRouteProgress = try await service.json("place", "route", "show")
        #expect(route.finished)
        #expect(route.stops.map(\.state) == [.left, .left, .left, .at])
        let all: [PlaceEvent] = try await service.json("place", "log", "-n", "1000")
        let announced = all.filter { $0.event == .next || $0.event == .approach }
        #expect(
            announced.map { "\($0.event.rawValue) \($0.place)" } == [
                "next Bridge", "approach Bridge", "next Church", "approach Church", "next End", "approach End",
            ],
            "\(announced)"
        )
        // A crash may interrupt an action, which is not repeated.
        #expect(announced.allSatisfy { $0.actions.count == 1 })
        #expect(announced.filter { $0.actions.map(\.outcome) == [.fired] }.count >= 5, "\(announced)")
        #expect(try await service.run("place", "route", "clear").text == "following no route\n")
        #expect(try await service.json("place", "list", as: [Place].self).map(\.definition.name) == ["Church"])
        try await service.command(["place", "route", "clear"]).expectRefusal(4, ["no route"])
    }

    @Test func `a faulty route is refused in one line, and the present one stays`() async throws {
        let service = try Service(Self.configuration())
        try await service.start()
        try await service.run("location", "stop")
        try await service.run("place", "route", "set", "--gpx", Self.line(service))
        let far = try service.scratch.write(
            """
            <gpx version="1.1" creator="test" xmlns="http://www.topografix.com/GPX/1/1">
            <wpt lat="48" lon="11"><name>A</name></wpt><wpt lat="49" lon="11"><name>B</name></wpt>
            <trk><trkseg><trkpt lat="48" lon="11"/><trkpt lat="48" lon="11.1"/></trkseg></trk></gpx>
            """,
            to: "far.gpx"
        )
        for (arguments, code, words) in [
            (["--gpx", far], Int32(1), "far.gpx: stop 2 (B) is "), (["--gpx", "/nowhere.gpx"], 4, "/nowhere.gpx"),
            (["--gtfs", far, "--trip", "7"], 1, "far.gpx"), (["--gtfs", far], 64, "--gtfs and --trip"),
            (["--gpx", far, "--gtfs", far, "--trip", "7"], 64, "or with --gpx"),
        ] {
            try await service.command(["place", "route", "set"] + arguments).expectRefusal(code, [words])
        }
        #expect(try await service.json("place", "route", as: PlaceRouteProgress.self).name == "Walk")
    }
}
