import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// Places from the command line to the events that fixes cause.
@Suite(.sharing) struct PlaceTests {
    @Test func `places are added, imported, listed, found, shown and removed`() async throws {
        let service = try Service(TestConfiguration())
        try await service.start()
        let id = try await service.run(
            "place",
            "add",
            "Harbour",
            "--at",
            "54.3233,10.1394",
            "--radius",
            "80",
            "--tag",
            "port"
        ).text
        #expect(id == "1\n")
        let again = ["place", "add", "Harbour", "--at", "54.3,10.1"]
        try await service.command(again).expectRefusal(1, ["there is a place Harbour", "--replace"])
        #expect(try await service.run(again + ["--replace"]).text == "1\n")
        let file = service.file("stops.csv")
        try "name,latitude,longitude,radius,tags\nNorth,54.31,10.1,20,stop\nSouth,54.29,10.1,,stop\n"
            .write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try await service.run("place", "import", file).text == "2 added, 0 changed, 0 removed, 0 unchanged\n")
        try "name,latitude,longitude\nNorth,54.31,10.1\n".write(toFile: file, atomically: true, encoding: .utf8)
        let second: PlaceImport = try await service.json("place", "import", file, "--replace")
        #expect((second.added, second.changed, second.removed) == (0, 1, 1))
        try "name,latitude,longitude\nNorth,91,10.1\n".write(toFile: file, atomically: true, encoding: .utf8)
        try await service.command(["place", "import", file]).expectRefusal(1, ["stops.csv:2"])
        let places: [Place] = try await service.json("place", "list")
        #expect(places.map(\.definition.name) == ["Harbour", "North"])
        #expect(places.map(\.definition.source) == [nil, "stops.csv"])
        let near: [Place] = try await service.json("place", "near", "54.311,10.1", "--within", "2km")
        #expect(near.map(\.definition.name) == ["North", "Harbour"])
        #expect(try await service.run("place", "near", "0,0").text == "No places within 1000 m.\n")
        let geojson = service.file("out.geojson")
        let text = try await service.run("place", "list", "--format", "geojson").text
        try text.write(toFile: geojson, atomically: true, encoding: .utf8)
        #expect(try await service.run("place", "import", geojson).text.hasPrefix("2 added"))
        try await service.command(["place", "show", "Harbour"]).expectRefusal(4, ["2 places of that name", "1, "])
        #expect(try await service.run("place", "show", "1").text.contains("circle, 50 m"))
        try await service.command(["place", "show", "Pier"]).expectRefusal(4, ["no place Pier", "place list"])
        #expect(try await service.run("place", "remove", "1", "2").text == "removed 2 places\n")
        #expect(try await service.run("place", "inside").text == "Inside of no place.\n")
        try await service.command(["place", "add", "X", "--at", "x"]).expectRefusal(64, ["LATITUDE,LONGITUDE"])
        try await service.command(["place", "add", "X", "--at", "1,1", "--radius", "0"]).expectRefusal(64, ["length"])
    }

    @Test func `a recording is replayed past the places of a file, explained and compared, without a service`()
        async throws
    {
        let service = try Service(TestConfiguration())
        let track = Products.repository("tracks/city-walk.gpx")
        let places = service.file("tour.csv")
        try "name,latitude,longitude,radius\nStart,53.5439,9.9811,45\nCorner,53.5437,9.9841,45\nFar,0,0,45\n"
            .write(toFile: places, atomically: true, encoding: .utf8)
        let replay = ["place", "replay", track, "--places", places]
        let json = try await service.run(replay + ["--format", "json"])
        let events = try #require(try JSONSerialization.jsonObject(with: json.output) as? [[String: Any]])
        let words = events.map { "\($0["event"] ?? "") \($0["place"] ?? "")" }
        #expect(words.prefix(4) == ["enter Start", "leave Start", "enter Corner", "leave Corner"], "\(words)")
        #expect(events[0]["initial"] as? Bool == true)
        #expect(events[0]["placeId"] == nil)
        #expect(events.allSatisfy { $0["sigma"] is Double && $0["probability"] is Double })
        let table = try await service.run(replay).text.split(separator: "\n")
        #expect(table.count == events.count + 1)
        #expect(table[0].hasPrefix("TIME"))
        let explained = try await service.run(replay + ["--explain"]).text.split(separator: "\n")
        #expect(explained.count > 300)
        #expect(explained.contains { $0.hasSuffix("inside   enter") }, "\(explained[1])")
        #expect(!explained.contains { $0.contains("Far") })
        let expected = service.file("walk.events.json")
        try json.output.write(to: URL(filePath: expected))
        #expect(
            try await service.run(replay + ["--expect", expected]).text.contains("identical, \(events.count) events")
        )
        try json.text.replacing("leave", with: "pass").write(toFile: expected, atomically: true, encoding: .utf8)
        let differs = try await service.command(replay + ["--expect", expected])
        #expect(differs.exitCode == 1)
        #expect(differs.text.contains("event 2: expected pass Start at "), "\(differs)")
        #expect(differs.errors.contains("the events differ; `--explain` shows every fix"), "\(differs)")
        try "{}".write(toFile: expected, atomically: true, encoding: .utf8)
        try await service.command(replay + ["--expect", expected]).expectRefusal(1, ["not a JSON list of events"])
        try await service.command(replay + ["--expect", "/nowhere"]).expectRefusal(1, ["/nowhere", "No such file"])
        try await service.command(["place", "replay", track]).expectRefusal(64, ["--places"])
        try await service.command(["place", "replay", "/nowhere.gpx", "--places", places])
            .expectRefusal(4, ["/nowhere.gpx"])
        try await service.command(["place", "replay", track, "--places", "/nowhere.csv"])
            .expectRefusal(4, ["/nowhere.csv: no such file"])
        try await service.command(replay + ["--expect", expected, "--explain"]).expectRefusal(64, ["--explain"])
        try await service.command(["place", "replay", "gpsd://localhost", "--places", places])
            .expectRefusal(64, ["track replay --record"])
    }

    @Test func `a replay shows what rules would do, compares it, and refuses faulty rules`() async throws {
        let service = try Service(TestConfiguration())
        let places = try service.scratch.write(
            "name,latitude,longitude,radius\nStart,53.5439,9.9811,45\nCorner,53.5437,9.9841,45\n",
            to: "tour.csv"
        )
        func rules(_ text: String) throws -> String {
            let rule = "- {name: story, on: enter, say: \"\(text) {name}\"}"
            let soon = "- {name: soon, on: approach, eta: 25s, task: gate}"
            return try service.scratch.write("places:\n  rules:\n    \(rule)\n    \(soon)\n", to: "tour.yaml")
        }
        let track = Products.repository("tracks/city-walk.gpx")
        let replay = ["place", "replay", track, "--places", places, "--rules", try rules("This is")]
        let table = try await service.run(replay).text
        #expect(table.contains("story say fired: This is Corner\n"), "\(table)")
        #expect(table.contains("soon task fired: gate\n"), "\(table)")
        #expect(!table.contains("This is Start"), "\(table)")
        let expected = service.file("walk.json")
        try await service.run(replay + ["--format", "json"]).output.write(to: URL(filePath: expected))
        #expect(try await service.run(replay + ["--expect", expected]).text.contains("identical, "))
        _ = try rules("Here is")
        let differs = try await service.command(replay + ["--expect", expected])
        #expect(differs.exitCode == 1)
        #expect(differs.text.contains("fired: This is Corner, got enter Corner"), "\(differs)")
        try await service.command(Array(replay.dropLast()) + ["/nowhere.yaml"]).expectRefusal(4, ["/nowhere.yaml"])
        try service.scratch.write("places: {rules: [{name: a, on: enter, sey: x}]}", to: "tour.yaml")
        try await service.command(replay).expectRefusal(1, ["tour.yaml:1: places.rules.a: ", "did you mean say?"])
    }

    @Test func `a walk through places is in the log and the events, and a crash inside causes no second enter`()
        async throws
    {
        let service = try Service(TestConfiguration())
        try await service.start()
        try await service.run("location", "stop")
        for (name, position) in [("Start", "53.5439,9.9811"), ("Corner", "53.5437,9.9841"), ("Nowhere", "0,0")] {
            try await service.run("place", "add", name, "--at", position, "--radius", "45")
        }
        let events = try service.events()
        try service.configure(
            TestConfiguration(source: "gpx:\(Products.repository("tracks/city-walk.gpx"))?rate=40")
        )
        try await service.run("reload")
        try await service.run("location", "start")
        try await events.wait(for: "the corner") { received in
            let kinds = try received.places().filter { $0.place == "Corner" }.map(\.event)
            return kinds == [.enter] ? true : nil
        }
        let inside: [Place] = try await service.json("place", "inside")
        #expect(inside.map(\.definition.name) == ["Corner"])
        #expect(inside.first?.inside == true)
        try await service.crash()
        try await service.start()
        #expect(try await service.json("place", "inside", as: [Place].self).map(\.definition.name) == ["Corner"])
        try await service.waitForEndOfTrack()
        let all: [PlaceEvent] = try await service.json("place", "log")
        let start = all.filter { $0.place == "Start" }
        #expect(start.prefix(2).map(\.event) == [.enter, .leave])
        #expect(start.first?.initial == true)
        let corner = all.filter { $0.place == "Corner" }.map(\.event)
        #expect(corner.prefix(2) == [.enter, .leave])
        #expect(zip(corner, corner.dropFirst()).allSatisfy { $0 != $1 }, "\(corner)")
        #expect(!all.contains { $0.place == "Nowhere" })
        #expect(all.allSatisfy { $0.accuracy != nil && $0.probability != nil })
        let last: [PlaceEvent] = try await service.json("place", "log", "--place", "Corner", "-n", "1")
        #expect(last == all.filter { $0.place == "Corner" }.suffix(1))
        #expect(try await service.run("place", "log").text.contains("enter (at the start)"))
        #expect(
            service.logLines().contains { $0.contains("Place: enter Corner: ") && $0.contains("inside, probability") }
        )
    }
}

extension ReceivedEvents {
    /// The events at places.
    func places() throws -> [PlaceEvent] {
        try payloads("place").map { try JSON.decode(PlaceEvent.self, from: Data($0.utf8)) }
    }
}
