import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// Rules of places: from the configuration file to announcements, fetches and tasks.
@Suite(.sharing) struct PlaceRuleTests {
    /// Returns a running service with `rules`, two places and a track that passes them.
    private static func service(_ rules: String, rest: [String] = [], modes: String = "[audio, location, fetch]")
        async throws -> Service
    {
        let service = try Service(TestConfiguration())
        try service.configure(configuration(rules, rest: rest, modes: modes))
        try await service.start()
        try await service.run("location", "stop")
        for (name, position) in [("Start", "53.5439,9.9811"), ("Corner", "53.5437,9.9841")] {
            try await service.run(
                ["place", "add", name, "--at", position, "--radius", "45", "--tag", "stop", "--property", "file=a.wav"]
            )
        }
        return service
    }

    private static func configuration(_ rules: String, rest: [String] = [], modes: String = "[audio, location, fetch]")
        -> TestConfiguration
    {
        var configuration = TestConfiguration(modes: modes)
        configuration.source = "gpx:\(Products.repository("tracks/city-walk.gpx"))?rate=40"
        configuration.rest = ["places:", "  rules:"] + rules.split(separator: "\n").map { "    " + $0 } + rest
        return configuration
    }

    /// Returns the actions of a simulated event, as `rule kind outcome`.
    private static func simulate(_ service: Service, _ place: String, _ event: String) async throws -> [String] {
        let event: PlaceEvent = try await service.json("place", "simulate", place, event)
        #expect(event.simulated == true)
        return event.actions.map { "\($0.rule) \($0.kind.rawValue) \($0.outcome.rawValue)" }
    }

    @Test func `a walk fires each action of a rule once for each visit, and a crash repeats nothing`() async throws {
        let rules = """
            - name: tour
              on: enter
              places: [Corner]
              once: ever
              say: "This is {name}"
              task: gate
              fetch: news
            - name: again
              on: leave
              tags: [stop]
              once: ever
              announce: {item: "{file}", duck: 20%, priority: 5}
            """
        let service = try await Self.service(
            rules,
            rest: [
                "fetch: {sources: {news: {exec: \"echo fresh\"}}}",
                "tasks: {hooks: {gate: {on: place, command: [/bin/sh, -c, \"env | grep BACKGROUNDER_PLACE | sort\"]}}}",
            ]
        )
        try await Tool.run("sox", "-n", "-r", "48000", "-c", "1", service.file("a.wav"), "synth", "0.2", "sine", "440")
        #expect(try await service.run("place", "rules").text.contains("tag stop"))
        let described: [PlaceRuleDescription] = try await service.json("place", "rules")
        #expect(described.map(\.problems) == [[], []])
        #expect(described[1].duck == 0.2)
        let events = try service.events()
        try await service.run("location", "start")
        try await events.wait(for: "the corner and what the rules do there") { received in
            let corner = try received.places().last { $0.place == "Corner" && $0.event == .enter }
            return corner?.actions.count == 3 ? true : nil
        }
        try await service.crash()
        try await service.start()
        try await service.waitForEndOfTrack()
        let all: [PlaceEvent] = try await service.json("place", "log", "-n", "1000")
        let fired = all.flatMap { event in
            event.actions.filter { $0.outcome == .fired }.map { "\($0.rule) \($0.kind.rawValue) at \(event.place)" }
        }
        #expect(
            fired.sorted() == [
                "again announce at Corner", "again announce at Start", "tour fetch at Corner", "tour say at Corner",
                "tour task at Corner",
            ],
            "\(all)"
        )
        // Stopping and starting the replay may have begun another trip.
        let trips: [Trip] = try await service.json("track", "trips")
        let trip = try #require(all.first { $0.event == .enter && $0.place == "Corner" }?.tripId)
        #expect(trips.map(\.id).contains(trip), "\(trips.map(\.id))")
        let tasks: [BackgroundTask] = try await service.json("task", "list")
        #expect(tasks.count == 1)
        #expect(
            try await service.run("task", "log", "1").text
                == "BACKGROUNDER_PLACE=Corner\nBACKGROUNDER_PLACE_EVENT=enter\nBACKGROUNDER_PLACE_SOURCE_ID=\n"
        )
        let runs: [FetchRun] = try await service.json("fetch", "log", "news")
        #expect(runs.map(\.trigger) == [.place])
        #expect(service.logLines().contains { $0.contains("Rule tour at Corner: say fired") })
        #expect(try await service.run("place", "log").text.contains("tour say fired, tour fetch fired"))
    }

    @Test func `simulated events act each time, and say what refused an action`() async throws {
        let rules = """
            - name: bell
              on: approach
              eta: 25s
              hours: 00:00-00:01
              announce: "{file}"
            - {name: "no file", on: enter, announce: "none/{name}.wav"}
            - {name: slash, on: leave, say: "{name} and {colour}"}
            - {name: hook, on: dwell, dwell: 5m, task: none}
            - {name: source, on: pass, fetch: none}
            """
        let service = try await Self.service(rules)
        try await Tool.run("sox", "-n", "-r", "48000", "-c", "1", service.file("a.wav"), "synth", "0.2", "sine", "440")
        for _ in 1...2 {
            #expect(try await Self.simulate(service, "Start", "approach") == ["bell announce fired"])
        }
        let text = try await service.run("place", "simulate", "Start", "enter").text
        #expect(text.hasPrefix("no file announce failed: "), "\(text)")
        #expect(text.contains("none/Start.wav"), "\(text)")
        #expect(
            try await service.run("place", "simulate", "Start", "leave").text
                == "slash say failed: the place has no property \"colour\"\n"
        )
        #expect(
            try await service.run("place", "simulate", "Start", "dwell").text
                == "hook task failed: no task hook none for places\n"
        )
        #expect(try await Self.simulate(service, "Start", "pass") == ["source fetch failed"])
        #expect(try await service.run("place", "simulate", "Start", "next").text == "No rule is for next at Start.\n")
        try await service.run("audio", "output", "off")
        #expect(try await Self.simulate(service, "Start", "approach") == ["bell announce refused"])
        try await service.command(["place", "simulate", "Nowhere", "enter"]).expectRefusal(4, ["no place Nowhere"])
        try await service.command(["place", "simulate", "Start", "fly"]).expectRefusal(64, ["fly"])
        // A value must not lead out of the folder of the sounds.
        try await service.run("place", "add", "a/../../etc", "--at", "1,1")
        let refused: PlaceEvent = try await service.json("place", "simulate", "a/../../etc", "enter")
        #expect(refused.actions.map(\.outcome) == [.refused])
        let problems = try await service.run("place", "rules").text
        #expect(problems.contains("hook: the task hook \"none\" does not exist"), "\(problems)")
        #expect(problems.contains("source: the fetch source \"none\" does not exist"), "\(problems)")
        #expect(service.logLines().contains { $0.contains("places.rules.hook.task: the task hook \"none\"") })
    }

    @Test func `a slow or missing renderer delays nothing but its own text, which is dropped when it is too late`()
        async throws
    {
        let rules = """
            - {name: talk, on: enter, say: {text: "{name}", expires: 2s}}
            - {name: bell, on: enter, announce: a.wav}
            - {name: open, on: enter, task: gate}
            """
        let hooks = "tasks: {hooks: {gate: {on: place, command: [/bin/true]}}}"
        let service = try Service(TestConfiguration())
        try await Tool.run("sox", "-n", "-r", "48000", "-c", "1", service.file("a.wav"), "synth", "0.2", "sine", "440")
        try service.configure(Self.configuration(rules, rest: [hooks]))
        let programs = service.file("programs")
        try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
        let renderer = programs + "/espeak-ng"
        try "#!/bin/sh\nexec /bin/sleep 60\n".write(toFile: renderer, atomically: true, encoding: .utf8)
        chmod(renderer, 0o755)
        try await service.start(adding: ["PATH": programs])
        try await service.run("location", "stop")
        try await service.run("place", "add", "Pier", "--at", "1,1")
        let events = try service.events()
        let began = ContinuousClock.now
        let slow = try await Self.simulate(service, "Pier", "enter")
        #expect(slow == ["talk say expired", "bell announce fired", "open task fired"])
        #expect(ContinuousClock.now - began >= .seconds(2))
        // The others were known before.
        let published = try await events.wait(for: "both publications") { received in
            let places = try received.places()
            return places.count == 2 ? places : nil
        }
        #expect(published.map(\.id) == [published[0].id, published[0].id])
        #expect(published[0].actions.map(\.rule) == ["bell", "open"])
        try FileManager.default.removeItem(atPath: renderer)
        let missing: PlaceEvent = try await service.json("place", "simulate", "Pier", "enter")
        #expect(missing.actions.map(\.outcome) == [.failed, .fired, .fired])
        #expect(missing.actions[0].detail?.contains("install the package espeak-ng") == true, "\(missing.actions)")
        #expect(service.logLines().contains { $0.contains("Rule talk at Pier: say expired: ") })
    }

    @Test func `a faulty rule is refused with its line, and the service continues with the rules it has`()
        async throws
    {
        let service = try await Self.service("- {name: a, on: enter, task: gate}")
        for (rule, words) in [
            ("- {name: a, on: arrive, task: gate}", "config.yaml:11: places.rules.a.on: \"arrive\" is not valid"),
            (
                "- name: a\n  on: enter\n  sey: x",
                "config.yaml:11: places.rules.a: unknown key \"sey\"; did you mean say?"
            ),
            ("- {name: a, on: approach, say: x}", "on: approach needs a time or a distance"),
            ("- {name: a, on: enter}", "the rule has no action"),
            ("- {name: a, on: enter, say: \"{name\"}", "a { has no }"),
            ("- {name: a, on: enter, say: x}\n- {name: a, on: leave, say: x}", "rule 1 has the same name"),
        ] {
            try service.configure(Self.configuration(rule))
            let refused = try await service.command(["reload"])
            #expect(refused.exitCode == 1)
            #expect(refused.errors.contains(words), "\(refused)")
        }
        let rules: [PlaceRuleDescription] = try await service.json("place", "rules")
        #expect(rules.map(\.task) == ["gate"])
        try service.configure(Self.configuration("- {name: b, on: leave, say: Bye}"))
        try await service.run("reload")
        #expect(try await service.json("place", "rules", as: [PlaceRuleDescription].self).map(\.say) == ["Bye"])
    }

    @Test func `files of the configuration are imported at the start and on reload, and a fault changes nothing`()
        async throws
    {
        let service = try Service(TestConfiguration())
        let head = "name,latitude,longitude\n"
        try service.scratch.write(head + "North,54,10\nSouth,53,10\n", to: "stops.csv")
        var configuration = TestConfiguration()
        configuration.rest = ["places: {import: [stops.csv]}"]
        try service.configure(configuration)
        try await service.start()
        func names() async throws -> [String] {
            try await service.json("place", "list", as: [Place].self).map(\.definition.name)
        }
        #expect(try await names() == ["North", "South"])
        try service.scratch.write(head + "North,54,10\nEast,53,11\n", to: "stops.csv")
        try await service.run("reload")
        #expect(try await names() == ["North", "East"])
        try service.scratch.write(head + "North,54,10\nEast,153,11\n", to: "stops.csv")
        try await service.run("reload")
        #expect(try await names() == ["North", "East"])
        let fault = service.logLines().last { $0.contains("stops.csv:3") } ?? ""
        #expect(fault.contains("Cannot import") && fault.contains("its places are as before"), "\(fault)")
        configuration.rest = ["places: {import: [none.csv]}"]
        try service.configure(configuration)
        try await service.run("reload")
        #expect(try await names() == [])
        #expect(service.logLines().contains { $0.contains("Cannot import") && $0.contains("none.csv") })
        configuration.rest = ["places: {import: [a/stops.csv, stops.csv]}"]
        try service.configure(configuration)
        try await service.command(["reload"]).expectRefusal(1, ["two files have the name stops.csv; rename one"])
    }

    @Test func `a place is changed, and keeps its id`() async throws {
        let service = try await Self.service("- {name: a, on: enter, task: gate}")
        let connection = try service.connection()
        let response = try await connection.send(
            "PATCH",
            "/v1/places/1",
            body: "{\"name\":\"Gate\",\"tags\":[\"door\"]}"
        )
        #expect(response.status == 200, "\(response)")
        let place: Place = try await service.json("place", "show", "Gate")
        #expect(place.id == 1)
        #expect(place.definition.tags == ["door"])
        #expect(place.definition.properties == ["file": "a.wav"])
        for (path, body, status) in [
            ("/v1/places/1", "{\"name\":\"Corner\"}", 409), ("/v1/places/77", "{\"name\":\"x\"}", 404),
            ("/v1/places/1", "{\"course\":400}", 422), ("/v1/places/1", "{\"name\":\"\"}", 422),
            ("/v1/places/1", "{\"colour\":\"red\"}", 422),
            ("/v1/places/1", "{\"shape\":{\"type\":\"circle\",\"latitude\":1,\"longitude\":1,\"radius\":0}}", 422),
        ] {
            let response = try await connection.send("PATCH", path, body: body)
            #expect(response.status == status, "\(path) \(body): \(response)")
        }
    }
}
