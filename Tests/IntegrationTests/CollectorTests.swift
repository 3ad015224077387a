import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// The collector with a real broker and a real PostgreSQL: each point is stored once.
@Suite(.sharing) struct CollectorTests {
    private let broker: Mosquitto
    private let database: Postgres
    private let service: Service

    init() async throws {
        broker = try await Mosquitto([
            "allow_anonymous true", "max_queued_messages 0", "max_inflight_messages 1000", "log_type all",
        ])
        database = try await Postgres()
        service = try Service(
            TestConfiguration(
                source: "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=20",
                rest: ["publish: {startWithin: 0s}"]
            )
        )
    }

    /// A running collector.
    private final class Collector: Sendable {
        let process: ForegroundProcess
        let lines: LineReader

        /// - Parameters:
        ///   - broker: another broker than that of the test.
        ///   - trusted: the file with the certificate of the broker.
        init(_ test: CollectorTests, _ options: String..., broker: String? = nil, trusting trusted: String? = nil)
            throws
        {
            let pipe = try PipeEnds()
            let broker = broker ?? "mqtt://127.0.0.1:\(test.broker.port)"
            var environment = test.service.environment
            if let trusted { environment["SSL_CERT_FILE"] = trusted }
            process = try ForegroundProcess(
                Products.backgrounder,
                ["fleet", "collect", "--mqtt", broker, "--postgres", test.database.url] + options,
                environment: environment,
                descriptors: [2: pipe.writeEnd]
            )
            close(pipe.writeEnd)
            lines = LineReader(pipe.readEnd)
        }

        func wait(for words: String) async throws {
            try await lines.wait(for: words) { lines, _ in lines.contains { $0.contains(words) } ? true : nil }
        }
    }

    private func publish() async throws {
        try await service.run(
            "publish",
            "add",
            "office",
            "--mqtt",
            "mqtt://127.0.0.1:\(broker.port)",
            "--machine",
            "bus12",
            "--since",
            "2000-01-01"
        )
    }

    private func wait(_ what: String, _ isThere: () async throws -> Bool) async throws {
        for _ in 0..<300 {
            if try await isThere() { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        Issue.record("\(what): \(try await database.rows("SELECT count(*) FROM location"))")
    }

    private func count() async throws -> Int {
        Int(try await database.rows("SELECT count(*) FROM location").first ?? "") ?? 0
    }

    @Test func `each point is stored once, over kills of collector, database and service, and an end of the broker`()
        async throws
    {
        var collector = try Collector(self)
        try await collector.wait(for: "Connected to mqtt")
        try await service.start()
        try await publish()
        try await wait("points") { try await count() > 20 }
        collector.process.kill()
        try await collector.process.waitForEnd()
        try await service.crash()
        collector = try Collector(self)
        try await service.start()
        var before = try await count()
        try await wait("points after a kill of the collector and the service") { try await count() > before + 20 }
        try await database.stop(SIGKILL)
        try await collector.wait(for: "the broker keeps the points")
        try await database.start()
        try await collector.wait(for: "Connected to the database")
        before = try await count()
        try await wait("points after a kill of the database") { try await count() > before + 20 }
        try await broker.stop()
        try await broker.start()
        before = try await count()
        try await wait("points after an end of the broker") { try await count() > before + 20 }
        try await service.run("location", "stop")
        let history = try await service.json("track", "history", as: [Location].self)
        try await wait("all points") { try await count() >= history.count }
        #expect(try await count() == history.count)
        let rows = try await database.rows(
            """
            SELECT n, extract(epoch FROM time), ST_Y(point::geometry), ST_X(point::geometry) FROM location
            WHERE machine = 'bus12' ORDER BY n
            """
        )
        for (row, location) in zip(rows, history) {
            let values = row.split(separator: "|").compactMap { Double($0) }
            #expect(values[1] == location.timestamp.timeIntervalSince1970)
            #expect(abs(values[2] - location.latitude) < 1e-6)
            #expect(abs(values[3] - location.longitude) < 1e-6)
        }
        collector.process.kill(SIGTERM)
        #expect(try await collector.process.waitForEnd(within: 5) == 0)
    }

    @Test func `a collector that was away receives what waited, in one burst`() async throws {
        var collector = try Collector(self)
        try await collector.wait(for: "Connected to mqtt")
        let scratch = try ScratchDirectory()
        var expected = 0
        for round in 1...3 {
            collector.process.kill(SIGTERM)
            #expect(try await collector.process.waitForEnd(within: 5) == 0)
            // More than fits into the system's buffers.
            let lines = (0..<5000).map { number in
                let padding = String(repeating: "x", count: number % 300)
                let key = #"{"g":"a\#(round)","n":\#(number),"x":"\#(padding)"}"#
                return #"{"_type":"location","tst":1795797292,"lat":1,"lon":2,"bg":\#(key)}"#
            }
            let file = try scratch.write(lines.joined(separator: "\n") + "\n", to: "lines")
            try await Tool.run(
                "sh",
                "-c",
                "mosquitto_pub -p \(broker.port) -q 1 -t owntracks/fleet/bus1 -l < '\(file)'"
            )
            expected += lines.count
            collector = try Collector(self)
            try await wait("the burst") { try await count() == expected }
        }
    }

    @Test func `a collector stores many messages together, also with TLS`() async throws {
        let scratch = try ScratchDirectory()
        try await Certificate.make(in: scratch)
        let secure = try await Mosquitto([
            "allow_anonymous true", "max_queued_messages 0", "max_inflight_messages 1000",
            "certfile \(scratch.file("cert"))", "keyfile \(scratch.file("key"))",
        ])
        let address = "mqtts://localhost:\(secure.port)"
        var collector = try Collector(self, broker: address, trusting: scratch.file("cert"))
        try await collector.wait(for: "Connected to mqtts")
        collector.process.kill(SIGTERM)
        #expect(try await collector.process.waitForEnd(within: 5) == 0)
        let lines = (0..<2000).map {
            #"{"_type":"location","tst":1795797292,"lat":1,"lon":2,"bg":{"g":"a","n":\#($0)}}"#
        }
        let file = try scratch.write(lines.joined(separator: "\n") + "\n", to: "lines")
        try await Tool.run(
            "sh",
            "-c",
            "mosquitto_pub -h localhost -p \(secure.port) --cafile '\(scratch.file("cert"))' -q 1 -t owntracks/fleet/bus1 -l < '\(file)'"
        )
        let metrics = try freePort(SOCK_STREAM)
        collector = try Collector(
            self,
            "--metrics",
            "127.0.0.1:\(metrics)",
            broker: address,
            trusting: scratch.file("cert")
        )
        try await wait("the points") { try await count() == lines.count }
        let text = String(
            decoding: try await Tool.run("curl", "-sf", "http://127.0.0.1:\(metrics)/metrics"),
            as: UTF8.self
        )
        let batches = text.split(separator: "\n").first { $0.hasPrefix("backgrounder_collector_batches_total ") }
            .flatMap { Int($0.split(separator: " ")[1]) }
        #expect(batches.map { $0 < lines.count / 10 } == true, "\(text)")
    }

    @Test func `machines that send positions meanwhile do not prolong a list`() async throws {
        let position = #"{"tst":1795797292,"latitude":1,"longitude":2}"#
        let topic = "backgrounder/v1/bus13/live"
        try await broker.publish(position, topic: topic, retained: true)
        let sender = try Tool.start(
            "mosquitto_pub",
            "-p",
            "\(broker.port)",
            "-t",
            topic,
            "-m",
            position,
            "--repeat",
            "600",
            "--repeat-delay",
            "0.1"
        )
        let began = ContinuousClock.now
        let list = try await service.command(["fleet", "list", "--broker", "mqtt://127.0.0.1:\(broker.port)"])
        #expect(list.text.contains("bus13"), "\(list)")
        // The positions come for 60 s.
        #expect(began.duration(to: .now) < .seconds(30))
        sender.kill()
    }

    @Test func `two collectors share the work, and the machines can be listed`() async throws {
        let one = try Collector(self, "--share", "office", "--name", "one")
        let two = try Collector(self, "--share", "office", "--name", "two")
        try await one.wait(for: "Connected to mqtt")
        try await two.wait(for: "Connected to mqtt")
        try await service.start()
        try await publish()
        try await wait("points") { try await count() > 60 }
        try await service.run("location", "stop")
        let history = try await service.json("track", "history", as: [Location].self)
        try await wait("all points") { try await count() == history.count }
        two.process.kill()
        for arguments in [
            ["--postgres", database.url], ["--broker", "mqtt://127.0.0.1:\(broker.port)"],
        ] {
            let list = try await service.command(["fleet", "list", "--format", "json"] + arguments)
            let machines = try JSON.decode([JSONValue].self, from: list.output)
            #expect(machines.count == 1)
            #expect(machines.first?["machine"]?.string == "bus12")
            #expect(machines.first?["state"]?.string == "online")
            #expect(machines.first?["latitude"]?.number.map { (37.2...37.5).contains($0) } == true)
            #expect(machines.first?["status"]?["version"]?.string == Backgrounder.version)
            let show = try await service.command(["fleet", "show", "bus12"] + arguments)
            #expect(show.text.hasPrefix("machine: bus12\nstate: online\n"), "\(show)")
            let table = try await service.command(["fleet", "list"] + arguments)
            #expect(table.text.hasPrefix("MACHINE  STATE"), "\(table)")
            let none = try await service.command(["fleet", "show", "none"] + arguments)
            #expect(none.exitCode == 4)
            #expect(none.errors.contains("no machine none"))
        }
        let positions = try await database.rows("SELECT machine FROM latest_position")
        #expect(positions == ["bus12"])
        let metres = try await database.rows("SELECT round(metres) FROM daily_distance")
        #expect(metres.compactMap { Double($0) }.first.map { $0 > 500 } == true, "\(metres)")
    }

    @Test func `the queries of the dashboard and of the documentation run`() async throws {
        let collector = try Collector(self)
        try await collector.wait(for: "Connected to mqtt")
        let dashboard = try JSONValue(parsing: #require(contents("Packaging/grafana/fleet.json")))
        let panels = try #require(dashboard["panels"]?.array)
        #expect(panels.count == 6)
        var queries = panels.compactMap { $0["targets"]?.array?.first?["rawSql"]?.string }
        queries += (dashboard["templating"]?["list"]?.array ?? []).filter { $0["type"]?.string == "query" }
            .compactMap { $0["query"]?.string }
        #expect(queries.count == 7)
        let page = try #require(contents("docs/fleet.md").map { String(decoding: $0, as: UTF8.self) })
        let block = try #require(page.split(separator: "```sql\n").last?.split(separator: "```").first)
        queries += block.split(separator: ";").map(String.init).filter { $0.contains("SELECT") }
        #expect(queries.count == 11)
        for n in [1, 2, 5, 6] {
            let point = #"{"_type":"location","tst":\#(1_795_797_290 + n),"lat":1,"lon":2,"bg":{"g":"ab","n":\#(n)}}"#
            try await broker.publish(point, topic: "owntracks/fleet/bus12")
        }
        try await wait("the points") { try await count() == 4 }
        #expect(try await database.rows(#require(queries.last)).map { $0.prefix(4) } == ["3|4|"])
        for query in queries {
            // As Grafana replaces its variables and macros.
            let sql = query.replacing("$machine", with: "bus12")
                .replacing(/\$__timeFilter\((\w+)\)/) { "\($0.1) BETWEEN now() - interval '1 day' AND now()" }
            _ = try await database.rows(sql)
        }
    }

    private func contents(_ path: String) -> Data? {
        FileManager.default.contents(atPath: Products.repository(path))
    }

    @Test func `hostile messages are counted and hold up nothing`() async throws {
        let metrics = try freePort(SOCK_STREAM)
        let collector = try Collector(self, "--metrics", "127.0.0.1:\(metrics)")
        try await collector.wait(for: "Connected to mqtt")
        func point(_ rest: String) -> String { #"{"_type":"location","tst":1795797292,"lat":1,"lon":2\#(rest)}"# }
        let key = #","bg":{"g":"ab","n":1,"ms":5,"seg":1}"#
        for (topic, payload) in [
            ("owntracks/fleet/bus1", "nonsense"), ("owntracks/fleet/bus1", point(#","acc":"x""#)),
            ("owntracks/fleet/bus1", #"{"_type":"location","tst":1,"lat":91,"lon":2}"#),
            ("owntracks/fleet/bus1", #"{"_type":"location","tst":1e300,"lat":1,"lon":2}"#),
            ("owntracks/fleet/bus1", #"{"_type":"transition","tst":1,"lat":1,"lon":2}"#),
            ("owntracks/fleet/bus1", point(#","bg":{"g":"a'b","n":1}"#)),
            ("owntracks/fleet/b s", point("")), ("owntracks/fleet/bus1", String(repeating: "x", count: 20_000)),
            ("backgrounder/v1/bus1/state", "burning"), ("backgrounder/v1/bus1/status", "{"),
            // Valid JSON that PostgreSQL refuses.
            ("backgrounder/v1/bus1/status", #"{"machine":"bus1","version":"\u0000"}"#),
            ("owntracks/fleet/bus1", point(#","acc":1e-310,"alt":-12.5,"vel":36"# + key)),
            ("owntracks/fleet/bus1", point(key)), ("owntracks/fleet/phone", point("")),
            ("owntracks/fleet/old", #"{"_type":"location","tst":0,"lat":-90,"lon":180}"#),
            ("owntracks/fleet/late", #"{"_type":"location","tst":253402300799,"lat":90,"lon":-180}"#),
            ("backgrounder/v1/bus1/state", "online"), ("backgrounder/v1/bus1/status", #"{"machine":"bus1"}"#),
        ] {
            try await broker.publish(payload, topic: topic)
        }
        try await wait("the last message") {
            try await database.rows("SELECT status FROM machine").contains { !$0.isEmpty }
        }
        let rows = try await database.rows(
            "SELECT machine, generation, n, altitude, speed, segment FROM location ORDER BY 1"
        )
        #expect(
            rows == [
                "bus1|ab|1|-12.5|10|t", "late||253402300799|||f", "old||0|||f",
                "phone||1795797292|||f",
            ]
        )
        let text = String(
            decoding: try await Tool.run("curl", "-sf", "http://127.0.0.1:\(metrics)/metrics"),
            as: UTF8.self
        )
        #expect(text.contains("backgrounder_collector_points_total{result=\"stored\"} 4\n"), "\(text)")
        #expect(text.contains("backgrounder_collector_points_total{result=\"duplicate\"} 1\n"))
        #expect(text.contains("backgrounder_collector_invalid_messages_total 11\n"), "\(text)")
        #expect(text.contains("backgrounder_collector_up{peer=\"database\"} 1\n"))
        let check = try await ProgramRun.of(
            "/bin/sh",
            ["-c", "curl -sf http://127.0.0.1:\(metrics)/metrics | promtool check metrics"]
        )
        #expect(check.exitCode == 0, "\(check)")
    }

    @Test func `wrong arguments and peers that are away are reported in one line`() async throws {
        let mqtt = ["--mqtt", "mqtt://127.0.0.1:\(broker.port)"]
        let postgres = ["--postgres", database.url]
        for (arguments, code, words) in [
            (["list"] + postgres, 1, "creates its tables"),
            (["collect"] + mqtt, 64, "--postgres"),
            (["collect", "--mqtt", "http://h"] + postgres, 64, "is not a broker address"),
            (["collect"] + mqtt + postgres + ["--name", "a b"], 64, "is not valid"),
            (["collect"] + mqtt + postgres + ["--metrics", "x"], 64, "is not an address"),
            (["collect"] + mqtt + postgres + ["--metrics", "127.0.0.1:\(broker.port)"], 1, "cannot listen on"),
            (["list"], 64, "name a broker or a database"),
            (["list", "--broker", "mqtt://h"] + postgres, 64, "exclude each other"),
            (["list", "--postgres", "postgres://127.0.0.1:1/x"], 1, "cannot reach PostgreSQL: connection to server"),
            (["list", "--broker", "mqtt://127.0.0.1:1"], 1, "cannot reach the broker"),
            (["show", "Bus 1"] + postgres, 64, "not a valid machine id"),
        ] as [([String], Int32, String)] {
            let run = try await service.command(["fleet"] + arguments)
            #expect(run.exitCode == code, "\(run)")
            #expect(run.errors.contains(words), "\(run)")
            #expect(run.errors.split(separator: "\n").count == 1, "\(run)")
        }
        // A database that is away may come back.
        try await database.stop()
        let collector = try Collector(self)
        try await collector.wait(for: "cannot reach PostgreSQL")
        try await database.start()
        try await broker.publish(
            #"{"_type":"location","tst":1795797292,"lat":1,"lon":2}"#,
            topic: "owntracks/fleet/bus1"
        )
        try await wait("the point") { (try? await count()) == 1 }
        _ = try await database.rows("INSERT INTO backgrounder_schema VALUES (99)")
        let older = try await service.command(["fleet", "collect"] + mqtt + postgres)
        #expect(older.exitCode == 1)
        #expect(
            older.errors.contains("the database has version 99 of the tables, and this collector knows 1"),
            "\(older)"
        )
    }

    @Test func `a broker that is away at the start is reported once`() async throws {
        try await broker.stop()
        let collector = try Collector(self)
        try await collector.wait(for: "cannot reach the broker")
        // Longer than the first two delays.
        try await Task.sleep(for: .seconds(3.5))
        try await broker.start()
        let lines = try await collector.lines.wait(for: "the connection") { lines, _ in
            lines.contains { $0.contains("Connected to mqtt") } ? lines : nil
        }
        #expect(lines.filter { $0.contains("cannot reach the broker") }.count == 1, "\(lines)")
    }
}
