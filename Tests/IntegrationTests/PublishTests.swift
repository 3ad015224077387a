import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// Publishing to a real broker: nothing is lost over the ends of broker, link and service.
@Suite(.sharing) struct PublishTests {
    /// A point as the broker delivers it.
    private struct Point: Decodable {
        struct Key: Decodable, Hashable {
            var g: String
            var n: Int
        }

        var lat: Double
        var lon: Double
        var acc: Double
        var bg: Key
    }

    /// A consumer with a durable session; it begins before anything is published.
    private struct Consumer {
        private let scratch: ScratchDirectory
        private let process: ForegroundProcess
        let file: String

        init(_ broker: Mosquitto, _ topic: String) throws {
            scratch = try ScratchDirectory()
            file = scratch.file("messages")
            let command =
                "exec mosquitto_sub -h 127.0.0.1 -p \(broker.port) -c -i collector -q 1 -F '%r %t %p' -t '\(topic)' > \(file)"
            process = try Tool.start("sh", "-c", command)
        }

        /// The messages as `RETAINED TOPIC PAYLOAD`.
        var lines: [String] {
            String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
                .split(separator: "\n").map(String.init)
        }
    }

    private let broker: Mosquitto
    private let service: Service
    private static let topic = "owntracks/fleet/bus12"

    init() async throws {
        broker = try await Mosquitto(["allow_anonymous true", "log_type all"])
        service = try Service(
            TestConfiguration(
                source: "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=20",
                rest: ["publish: {startWithin: 0s}"]
            )
        )
    }

    private func add(_ options: String...) async throws {
        try await service.run(
            ["publish", "add", "office", "--mqtt", "mqtt://127.0.0.1:\(broker.port)", "--machine", "bus12"] + options
        )
    }

    private func status() async throws -> PublisherStatus { try await service.publisher() }

    private func wait(_ what: String, _ isThere: (PublisherStatus) -> Bool) async throws {
        try await service.wait(forPublisher: what, isThere)
    }

    private func points(_ consumer: Consumer) throws -> [Point] {
        try consumer.lines.filter { $0.contains(" \(Self.topic) ") }.map { line in
            try JSON.decode(Point.self, from: Data(line.split(separator: " ", maxSplits: 2)[2].utf8))
        }
    }

    @Test func `every point arrives in order, over kills of the service and ends of the broker`() async throws {
        let consumer = try Consumer(broker, "#")
        try await broker.wait(for: "Sending SUBACK to collector")
        try await service.start()
        try await add("--since", "2000-01-01")
        try await wait("points") { $0.acknowledged > 30 }
        try await service.crash()
        try await service.start()
        try await wait("points after a kill of the service") { $0.state == .connected && $0.acknowledged > 80 }
        try await broker.stop()
        try await wait("the loss of the broker") { $0.state == .waiting && $0.why != nil && $0.backlog > 20 }
        try await broker.start()
        try await service.run("location", "stop")
        try await wait("the end of the backlog") { $0.state == .connected && $0.backlog == 0 }
        let history = try await service.json("track", "history", as: [Location].self)
        // The consumer reconnects, and the broker has its messages.
        for _ in 0..<100 where Set(try points(consumer).map(\.bg.n)).count < history.count {
            try await Task.sleep(for: .milliseconds(100))
        }
        let points = try points(consumer)
        #expect(Set(points.map(\.bg.n)) == Set(1...history.count))
        #expect(Set(points.map(\.bg)).count == history.count, "no point has two keys")
        for point in points {
            let location = history[point.bg.n - 1]
            #expect(abs(point.lat - location.latitude) < 1e-6)
            #expect(abs(point.lon - location.longitude) < 1e-6)
            #expect(point.acc >= 1)
        }
        // Apart from repetitions, the order is that of the history.
        var newest = 0
        for point in points where point.bg.n > newest {
            #expect(point.bg.n == newest + 1)
            newest = point.bg.n
        }
        #expect(points.count - history.count <= 80, "the window, twice for a kill")
        #expect(try await status().dropped == 0)
    }

    @Test func `a stop of the service waits for the acknowledgements, so that points do not come again`() async throws {
        let consumer = try Consumer(broker, Self.topic)
        try await broker.wait(for: "Sending SUBACK to collector")
        try await service.start()
        try await add()
        for _ in 0..<5 {
            let known = try await status().acknowledged
            try await wait("more points") { $0.state == .connected && $0.acknowledged > known + 20 }
            try await service.run("stop")
            try await service.start()
        }
        try await service.run("location", "stop")
        try await wait("the end of the backlog") { $0.state == .connected && $0.backlog == 0 }
        let numbers = try points(consumer).map(\.bg.n)
        #expect(numbers.count > 100)
        // A busy broker may be late once.
        #expect(numbers.count - Set(numbers).count <= 2, "\(numbers)")
    }

    @Test func `the broker knows the position and the state, also after the machine has gone`() async throws {
        try await service.start()
        try await add("--owntracks", "Ann/boat", "--home-assistant")
        try await wait("a position") { $0.live != nil && $0.topic == "owntracks/Ann/boat" }
        func kept(_ topic: String) async throws -> String {
            let run = try await ProgramRun.of(
                "/usr/bin/mosquitto_sub",
                ["-h", "127.0.0.1", "-p", "\(broker.port)", "-t", topic, "-C", "1", "-W", "2", "--retained-only"]
            )
            return run.text.trimmingCharacters(in: .newlines)
        }
        #expect(try await kept("backgrounder/v1/bus12/state") == "online")
        let live = try JSON.decode(JSONValue.self, from: Data(try await kept("backgrounder/v1/bus12/live").utf8))
        #expect(live["latitude"]?.number.map { (37.3...37.4).contains($0) } == true)
        let configuration = try await kept("homeassistant/device_tracker/bg_bus12/config")
        let description = try JSON.decode(JSONValue.self, from: Data(configuration.utf8))
        #expect(description["json_attributes_topic"]?.string == "backgrounder/v1/bus12/live")

        try await service.crash()
        #expect(try await kept("backgrounder/v1/bus12/state") == "offline")
        try await service.start()
        try await wait("a connection") { $0.state == .connected }
        #expect(try await kept("backgrounder/v1/bus12/state") == "online")
        try await service.run("stop")
        #expect(try await kept("backgrounder/v1/bus12/state") == "offline")
        try await service.start()
        try await wait("a connection") { $0.state == .connected }
        try await service.run("publish", "remove", "office")
        try await broker.wait(for: "Received DISCONNECT from backgrounder-bus12-office")
        for topic in [
            "backgrounder/v1/bus12/state", "backgrounder/v1/bus12/live", "homeassistant/device_tracker/bg_bus12/config",
        ] {
            #expect(try await kept(topic) == "", "\(topic)")
        }
    }

    @Test func `a paused publisher that is removed leaves nothing at the broker`() async throws {
        try await service.start()
        try await add("--group", "red")
        try await wait("a position") { $0.live != nil && $0.acknowledged > 0 }
        try await service.run("publish", "pause", "office")
        try await service.run("publish", "remove", "office")
        let all = try await ProgramRun.of(
            "/usr/bin/mosquitto_sub",
            ["-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "backgrounder/#", "-W", "1", "--retained-only"]
        )
        #expect(all.text == "", "\(all)")
        // Commands do not wait for it: only its session is a durable one.
        let sessions = try await ProgramRun.of(
            "/usr/bin/mosquitto_sub",
            [
                "-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "$SYS/broker/clients/disconnected", "-C", "1", "-W",
                "15",
            ]
        )
        #expect(sessions.text == "0\n", "\(sessions)")
    }

    @Test func `publishing can be paused, resumed, rewound and declared`() async throws {
        try await service.start()
        try await add()
        try await wait("a point") { $0.acknowledged > 0 }
        #expect(
            try await service.run("publish", "pause", "office").text.hasPrefix("office: paused (paused by a command)")
        )
        try await wait("a backlog") { $0.state == .paused && $0.backlog > 5 }
        let doctor = try await service.command(["doctor"]).text
        #expect(doctor.contains("publish: office: paused"))
        try await service.crash()
        try await service.start()
        #expect(try await status().state == .paused)
        try await service.run("publish", "resume", "office")
        try await service.run("location", "stop")
        try await wait("the end of the backlog") { $0.backlog == 0 }
        let before = try await status().acknowledged
        let count = try await service.json("track", "history", as: [Location].self).count
        try await service.run("publish", "rewind", "office", "2000-01-01")
        try await wait("all points again") { $0.backlog == 0 && $0.acknowledged == before + count }

        let entry =
            "publish: {startWithin: 0s, brokers: {office: {mqtt: \"mqtt://127.0.0.1:\(broker.port)\", machine: bus12}}}"
        try service.configure(TestConfiguration(rest: [entry]))
        try await service.run("reload")
        #expect(try await status().declared)
        #expect(try await status().acknowledged == before + count, "it is the same publisher")
        let inGroup = entry.replacingOccurrences(of: "machine: bus12", with: "machine: bus12, groups: [red]")
        try service.configure(TestConfiguration(rest: [inGroup]))
        try await service.run("reload")
        try await wait("the new session") { $0.state == .connected && $0.groups == ["red"] && $0.backlog == 0 }
        #expect(try await status().acknowledged == before + count, "another group causes no repeats")
        try await service.run("publish", "pause", "office")
        try service.configure(TestConfiguration(rest: [entry]))
        try await service.run("reload")
        #expect(try await status().state == .paused)
        #expect(try await status().groups == nil)
        let refused = try await service.command(["publish", "remove", "office"])
        #expect(refused.exitCode == 1)
        #expect(refused.errors.contains("is declared in"))
        try service.configure(TestConfiguration())
        try await service.run("reload")
        #expect(try await service.run("publish").text == "No publishers; add one with `backgrounder publish add`.\n")
    }

    @Test func `wrong input is refused in one line`() async throws {
        try await service.start()
        try await add()
        let add = ["publish", "add"]
        let url = ["--mqtt", "mqtt://127.0.0.1:\(broker.port)"]
        for (arguments, code, words) in [
            (add + ["b"] + url + ["--machine", "Bus 12"], 64, "not a valid machine id; use 1 to 64"),
            (add + ["b"] + url + ["--machine", "a.b"], 64, "not a valid machine id"),
            (add + ["b"] + url + ["--machine", "a/b"], 64, "not a valid machine id"),
            (add + ["b"] + url + ["--machine", ""], 64, "not a valid machine id"),
            (add + ["b"] + url + ["--machine", "group"], 64, "a machine cannot have the id group"),
            (add + ["b", "--mqtt", "http://h", "--machine", "m"], 64, "is not a broker address"),
            (add + ["b"] + url + ["--machine", "m", "--owntracks", "a/b/c"], 64, "is not USER/DEVICE"),
            (add + ["b"] + url + ["--machine", "m", "--since", "soon"], 64, "is not a valid time"),
            (add + ["b c"] + url + ["--machine", "m"], 64, "is not a valid name"),
            (add + ["b"] + url + ["--machine", "m", "--credentials", "/none"], 4, "/none"),
            (add + ["office"] + url + ["--machine", "m"], 1, "the publisher office already exists"),
            (["publish", "show", "none"], 4, "no publisher none"),
            (["publish", "pause", "none"], 4, "no publisher none"),
            (["publish", "rewind", "none", "now"], 4, "no publisher none"),
            (["publish", "remove", "none"], 4, "no publisher none"),
        ] as [([String], Int32, String)] {
            let run = try await service.command(arguments)
            #expect(run.exitCode == code, "\(run)")
            #expect(run.errors.contains(words), "\(run)")
            #expect(run.errors.split(separator: "\n").count == 1, "\(run)")
        }
        for index in 1...7 { try await service.run(add + ["p\(index)"] + url + ["--machine", "m\(index)"]) }
        let run = try await service.command(add + ["p8"] + url + ["--machine", "m8"])
        #expect(run.errors.contains("8 exist, the maximum"), "\(run)")
    }

    @Test func `a certificate that expires while connected is reported at the next connection, and no point is lost`()
        async throws
    {
        let scratch = try ScratchDirectory()
        // Certificates are valid for days, so that one with few seconds left is made with an earlier clock.
        let script = """
            set -e; cd '\(scratch.path)'
            make='openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
            $make -x509 -days 2 -keyout ca.key -out ca.pem -subj /CN=ca
            $make -keyout key -out request -subj /CN=localhost
            echo 'subjectAltName=DNS:localhost' > names
            sign='openssl x509 -req -in request -CA ca.pem -CAkey ca.key -CAcreateserial -days 1 -extfile names'
            $sign -out renewed.pem
            LD_PRELOAD=$(ls /usr/lib/*/faketime/libfaketime.so.1) FAKETIME=-86385 $sign -out server.pem
            """
        try await Tool.run("sh", "-c", script)
        let end = MonotonicTime.now + .seconds(15)
        let port = try freePort(SOCK_STREAM)
        let strict = try await Mosquitto([
            "allow_anonymous true", "listener \(port) 127.0.0.1", "certfile \(scratch.file("server.pem"))",
            "keyfile \(scratch.file("key"))",
        ])
        try await service.start(adding: ["SSL_CERT_FILE": scratch.file("ca.pem")])
        try await service.run("publish", "add", "office", "--mqtt", "mqtts://localhost:\(port)", "--machine", "bus12")
        try await wait("points") { $0.state == .connected && $0.acknowledged > 5 }
        while MonotonicTime.now < end + .seconds(1) { try await Task.sleep(for: .milliseconds(100)) }
        let expired = try await status()
        #expect(expired.state == .connected)
        try await wait("points after the end of the certificate") { $0.acknowledged > expired.acknowledged + 20 }
        try await strict.restart()
        try await wait("the refusal") {
            $0.state == .failed && $0.why == "cannot establish TLS: certificate verify failed: certificate has expired"
        }
        try await wait("a backlog") { $0.backlog > 20 }
        try FileManager.default.removeItem(atPath: scratch.file("server.pem"))
        try FileManager.default.moveItem(atPath: scratch.file("renewed.pem"), toPath: scratch.file("server.pem"))
        try await strict.restart()
        try await service.run("location", "stop")
        // A refusal has the longest delay.
        try await service.run("publish", "pause", "office")
        try await service.run("publish", "resume", "office")
        try await wait("the end of the backlog") { $0.state == .connected && $0.backlog == 0 }
        #expect(try await status().dropped == 0)
    }

    @Test func `a broker that refuses is reported`() async throws {
        let strict = try await Mosquitto(["allow_anonymous false"])
        try await service.start()
        try await service.run("publish", "add", "office", "--mqtt", "mqtt://127.0.0.1:\(strict.port)", "--machine", "m")
        try await wait("the refusal") { $0.state == .failed && $0.why?.contains("not authorised") == true }
        let doctor = try await service.command(["doctor"])
        #expect(doctor.text.contains("credentials are right"))
    }
}
