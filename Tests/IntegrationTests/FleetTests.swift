import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// Commands to machines, from `backgrounder fleet` over a real broker to the real player.
@Suite(.sharing) struct FleetTests {
    private let broker: Mosquitto
    private let service: Service
    private let item = "stops/door.wav"

    init() async throws {
        broker = try await Mosquitto(["allow_anonymous true", "autosave_interval 1800", "log_type all"])
        service = try Service(source: "gpx:\(Products.repository("tracks/city-walk.gpx"))")
    }

    private func configure(_ fleet: String = "items: items", groups: String = "[red]") throws {
        let entry = "{mqtt: \"mqtt://127.0.0.1:\(broker.port)\", machine: bus12, groups: \(groups)}"
        try service.configure(
            TestConfiguration(rest: ["publish: {startWithin: 0s, brokers: {office: \(entry)}}", "fleet: {\(fleet)}"])
        )
    }

    private func makeItem() async throws {
        try FileManager.default.createDirectory(atPath: service.file("items/stops"), withIntermediateDirectories: true)
        try await Tool.run(
            "sox",
            "-n",
            "-r",
            "8000",
            "-c",
            "1",
            "-b",
            "16",
            service.file("items/\(item)"),
            "synth",
            "0.3",
            "sine",
            "440"
        )
    }

    private func start() async throws {
        try await service.start()
        try await connected()
    }

    private func connected() async throws {
        try await service.wait(forPublisher: "a connection") { $0.state == .connected }
    }

    private func fleet(_ command: String, _ arguments: String...) async throws -> ProgramRun {
        try await service.command(["fleet", command, "--broker", "mqtt://127.0.0.1:\(broker.port)"] + arguments)
    }

    @Test func `an announcement is played and answered, to one machine and to a group`() async throws {
        try await makeItem()
        try configure()
        try await start()
        let one = try await fleet("announce", "--to", "bus12", item, "--wait", "20s")
        #expect(one.text == "bus12: done\n", "\(one)")
        #expect(one.exitCode == 0)
        let group = try await fleet("announce", "--group", "red", "--say", "Good morning", "--wait", "5s")
        #expect(group.text == "bus12: done\n", "\(group)")
        #expect(group.exitCode == 0)
        let other = try await fleet("announce", "--group", "blue", item, "--wait", "1s")
        #expect(other.text == "no machine replied\n")
        #expect(other.exitCode == 1)
        let silent = try await fleet("announce", "--to", "bus12,bus13", item, "--wait", "5s")
        #expect(silent.text == "bus12: done\nbus13: silent\n", "\(silent)")
        #expect(silent.exitCode == 1)
        let sent = try await fleet("announce", "--to", "bus12", item)
        #expect(sent.text.hasPrefix("sent "))
        #expect(sent.text.hasSuffix(" to bus12\n"))
        let log = service.logLines()
        #expect(log.contains { $0.hasSuffix("Command announce from office: done") })
        #expect(log.contains { $0.contains("Announcement: \(service.file("items/\(item)"))") })
    }

    @Test func `a machine cannot reply for another one`() async throws {
        let script = """
            id=$(mosquitto_sub -p \(broker.port) -t backgrounder/v1/bus13/cmd -C 1 -W 20 | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
            for machine in bus13 bus14; do
                mosquitto_pub -p \(broker.port) -q 1 -t backgrounder/v1/bus13/reply \\
                    -m "{\\"id\\":\\"$id\\",\\"machine\\":\\"$machine\\",\\"result\\":\\"done\\"}"
            done
            """
        let thief = try Tool.start("sh", "-c", script)
        try await broker.wait(for: "backgrounder/v1/bus13/cmd (QoS 0)")
        let run = try await fleet("announce", "--to", "bus13,bus14", item, "--wait", "4s")
        #expect(run.text == "bus13: done\nbus14: silent\n", "\(run)")
        thief.kill()
    }

    @Test func `the other commands act on the player, the fetches and the reports`() async throws {
        try configure()
        try await start()
        try await service.run("fetch", "add", "news", "--exec", "echo x >> \(service.file("fetched")); echo x")
        func send(_ words: String...) async throws -> String {
            let run = try await service.command(
                ["fleet", "send", "--broker", "mqtt://127.0.0.1:\(broker.port)", "--to", "bus12", "--wait", "20s"]
                    + words
            )
            #expect(run.exitCode == (run.text.hasPrefix("bus12: done") ? 0 : 1), "\(run)")
            return run.text
        }
        #expect(try await send("volume", "40%") == "bus12: done\n")
        #expect(try await service.json("audio", "status", as: AudioStatus.self).volume == 40)
        #expect(try await send("play") == "bus12: refused: the queue is empty\n")
        try await service.run("queue", "add", Products.repository("media/quiet-waltz.mp3"))
        #expect(try await send("play") == "bus12: done\n")
        #expect(try await service.json("audio", "status", as: AudioStatus.self).timeControlStatus == .playing)
        #expect(try await send("pause") == "bus12: done\n")
        #expect(try await service.json("audio", "status", as: AudioStatus.self).timeControlStatus == .paused)
        #expect(try await send("fetch", "news") == "bus12: done: newData\n")
        #expect(try String(contentsOfFile: service.file("fetched"), encoding: .utf8) == "x\n")
        #expect(try await send("fetch", "none") == "bus12: refused: no source \"none\"\n")
        #expect(try await send("report") == "bus12: done\n")
        #expect(try await send("status") == "bus12: done\n")
        let run = try await Tool.run(
            "mosquitto_sub",
            "-p",
            "\(broker.port)",
            "-t",
            "backgrounder/v1/bus12/status",
            "-C",
            "1",
            "-W",
            "5"
        )
        let report = try JSON.decode(JSONValue.self, from: run)
        #expect(report["machine"]?.string == "bus12")
        #expect(report["groups"]?.array?.compactMap(\.string) == ["red"])
        #expect(report["audio"]?["volume"]?.number == 40)
        #expect(report["version"]?.string == Backgrounder.version)
        #expect(report["health"]?.string == "ok")
    }

    @Test func `an event at a place reaches the broker`() async throws {
        try configure()
        try await start()
        try await service.run("place", "add", "Harbour", "--at", "53.54,9.98")
        let output = service.file("place.json")
        let listener = try Tool.start(
            "sh",
            "-c",
            "mosquitto_sub -p \(broker.port) -i listener -q 1 -t backgrounder/v1/bus12/place -C 1 -W 20 > '\(output)'"
        )
        try await broker.wait(for: "Sending SUBACK to listener")
        try await service.run("place", "simulate", "Harbour", "enter")
        #expect(try await listener.waitForEnd() == 0)
        let event = try JSONValue(parsing: try #require(FileManager.default.contents(atPath: output)))
        #expect(event["place"]?.string == "Harbour")
        #expect(event["event"]?.string == "enter")
    }

    @Test func `a command waits at the broker and for its time, and survives a kill of the service`() async throws {
        try await makeItem()
        try configure()
        try await start()
        try await service.crash()
        let sent = try await fleet("announce", "--to", "bus12", item, "--expires", "5m")
        #expect(sent.exitCode == 0)
        let late = try await fleet("announce", "--to", "bus12", item, "--expires", "1ms")
        #expect(late.exitCode == 0)
        try await service.start()
        try await LogFollower(service).wait(for: "Command announce from office: done")
        #expect(service.logLines().contains { $0.contains("Refused a command from office: it expired at") })

        let waiting = try await fleet("announce", "--to", "bus12", item, "--at", "+3s", "--wait", "1s")
        #expect(waiting.text == "bus12: accepted\n", "\(waiting)")
        #expect(waiting.exitCode == 0)
        try await service.crash()
        try await service.start()
        for _ in 0..<200 where Self.doneCount(service) < 2 { try await Task.sleep(for: .milliseconds(50)) }
        #expect(Self.doneCount(service) == 2)
    }

    private static func doneCount(_ service: Service) -> Int {
        service.logLines().count { $0.hasSuffix("Command announce from office: done") }
    }

    @Test func `a command brings its item with a transfer, which its digest checks`() async throws {
        try await makeItem()
        let path = service.file("items/\(item)")
        let content = try #require(FileManager.default.contents(atPath: path))
        try FileManager.default.removeItem(atPath: path)
        let digest = String(decoding: try await Tool.run("sh", "-c", "openssl rand -hex 32"), as: UTF8.self)
            .trimmingCharacters(in: .newlines)
        let real = try await Self.digest(of: content)
        let server = try TestWebServer()
        server.on("/items/stops/door.wav") { _, connection in try connection.reply(200, [:], Array(content)) }
        try configure("items: items, itemURL: \"\(server.url("/items"))\"")
        try await start()
        let none = try await fleet("announce", "--to", "bus12", item, "--wait", "20s")
        #expect(
            none.text
                == "bus12: refused: no item \(item); add its sha256 to the command, and the machine downloads it\n",
            "\(none)"
        )
        let wrong = try await fleet("announce", "--to", "bus12", item, "--sha256", digest, "--wait", "20s")
        #expect(wrong.text.hasPrefix("bus12: refused: cannot download the item \(item): "), "\(wrong)")
        #expect(!FileManager.default.fileExists(atPath: path))
        let right = try await fleet("announce", "--to", "bus12", item, "--sha256", real, "--wait", "20s")
        #expect(right.text == "bus12: done\n", "\(right)")
        #expect(FileManager.default.contents(atPath: path) == content)
        let count = server.requests(to: "/items/stops/door.wav").count
        let again = try await fleet("announce", "--to", "bus12", item, "--sha256", real, "--wait", "20s")
        #expect(again.text == "bus12: done\n", "\(again)")
        #expect(server.requests(to: "/items/stops/door.wav").count == count, "the item is there already")
    }

    @Test func `a manifest brings items to the machines, before they are announced`() async throws {
        try await makeItem()
        let path = service.file("items/\(item)")
        let content = try #require(FileManager.default.contents(atPath: path))
        try FileManager.default.removeItem(atPath: path)
        let server = try TestWebServer()
        server.on("/door.wav") { _, connection in try connection.reply(200, [:], Array(content)) }
        server.reply(
            to: "/items.xml",
            headers: ["Content-Type": "application/rss+xml"],
            body: """
                <rss version="2.0"><channel><title>Items</title><item><guid>1</guid><title>Door</title>\
                <enclosure url="\(server.url("/door.wav"))" type="audio/x-wav" length="\(content.count)"/></item></channel></rss>
                """
        )
        try configure()
        try await start()
        try await service.run(
            "fetch",
            "add",
            "items",
            "--url",
            server.url("/items.xml"),
            "--download",
            service.file("items")
        )
        let fetched = try await fleet("send", "--to", "bus12", "fetch", "items", "--wait", "20s")
        #expect(fetched.text == "bus12: done: newData\n", "\(fetched)")
        for _ in 0..<600 where FileManager.default.contents(atPath: service.file("items/door.wav")) != content {
            try await Task.sleep(for: .milliseconds(100))
        }
        let transfers = try await service.run("transfer", "list").text
        let announced = try await fleet("announce", "--to", "bus12", "door.wav", "--wait", "20s")
        #expect(announced.text == "bus12: done\n", "\(announced)\n\(transfers)")
    }

    private static func digest(of content: Data) async throws -> String {
        let scratch = try ScratchDirectory()
        try content.write(to: URL(filePath: scratch.file("content")))
        return String(decoding: try await Tool.run("sha256sum", scratch.file("content")), as: UTF8.self).prefix(64)
            .description
    }

    @Test func `with keys, only signed commands are obeyed`() async throws {
        try await makeItem()
        try await Tool.run("openssl", "genpkey", "-algorithm", "ed25519", "-out", service.file("key"))
        try await Tool.run("chmod", "600", service.file("key"))
        try await Tool.run("openssl", "pkey", "-in", service.file("key"), "-pubout", "-out", service.file("office.pem"))
        try configure("items: items, keys: [office.pem]")
        try await start()
        let plain = try await fleet("announce", "--to", "bus12", item, "--wait", "20s")
        #expect(
            plain.text == "bus12: refused: the signature is missing or not of a key in fleet.keys\n",
            "\(plain)"
        )
        let signed = try await fleet("announce", "--to", "bus12", item, "--wait", "20s", "--key", service.file("key"))
        #expect(signed.text == "bus12: done\n", "\(signed)")
    }

    @Test func `hostile commands are refused in one line, and reach no file outside the items`() async throws {
        try await makeItem()
        try configure()
        try await Tool.run("ln", "-s", "/etc/passwd", service.file("items/link.wav"))
        try await start()
        let end = Int(Date().timeIntervalSince1970) + 60
        for (index, rest) in [
            #""do":"announce","item":"../config.yaml""#, #""do":"announce","item":"/etc/passwd""#,
            #""do":"announce","item":"link.wav""#, #""do":"announce","item":"none.wav""#,
            #""do":"shell","item":"rm""#, #""do":"volume","text":"1e9""#, #""do":"fetch","item":"a\nb""#,
        ].enumerated() {
            try await broker.publish(
                #"{"id":"h\#(index)","expires":\#(end),\#(rest)}"#,
                topic: "backgrounder/v1/bus12/cmd"
            )
        }
        let garbage = ["", "{", "null", "[1]", String(repeating: "x", count: 9000), #"{"id":{}}"#]
        for text in garbage { try await broker.publish(text, topic: "backgrounder/v1/bus12/cmd") }
        let run = try await fleet("send", "--to", "bus12", "status", "--wait", "20s")
        #expect(run.text == "bus12: done\n", "the service goes on: \(run)")
        let log = service.logLines()
        #expect(!log.contains { $0.contains("Announcement: ") })
        #expect(log.count { $0.contains("ommand") && $0.contains("from office") } >= 7)
        #expect(!log.contains { $0.contains("from office: done") && !$0.contains("status") }, "\(log)")
    }

    @Test func `wrong arguments are refused in one line`() async throws {
        let none = ["--broker", "mqtt://127.0.0.1:1"]
        for (arguments, code, words) in [
            (["announce"] + none + ["a.wav"], 64, "no machines; name them with --to"),
            (["announce"] + none + ["--to", "a", "--group", "b", "a.wav"], 64, "exclude each other"),
            (["announce"] + none + ["--to", "Bus 1", "a.wav"], 64, "not a valid machine id"),
            (["announce"] + none + ["--to", "a"], 64, "nothing to announce"),
            (["announce"] + none + ["--to", "a", "../a.wav"], 64, "not the name of an item"),
            (["announce"] + none + ["--to", "a", "a.wav", "--say", "b"], 64, "exclude each other"),
            (["announce"] + none + ["--to", "a", "--say", " "], 64, "is empty"),
            (["announce"] + none + ["--to", "a", "a.wav", "--at", "soon"], 64, "not a valid time"),
            (["announce"] + none + ["--to", "a", "a.wav", "--at", "2020-01-01T00:00:00Z"], 64, "has passed"),
            (["announce"] + none + ["--to", "a", "a.wav", "--duck", "x"], 64, "is not a level"),
            (["announce"] + none + ["--to", "a", "a.wav", "--expires", "0s"], 64, "not a valid duration"),
            (["announce"] + none + ["--to", "a", "a.wav", "--wait", "x"], 64, "not a valid duration"),
            (["announce"] + none + ["--to", "a", "a.wav", "--key", "/none"], 4, "/none"),
            (["announce"] + none + ["--to", "a", "a.wav"], 1, "cannot reach the broker"),
            (["announce", "--broker", "http://h", "--to", "a", "a.wav"], 64, "is not a broker address"),
            (["send"] + none + ["--to", "a", "volume"], 64, "needs a level"),
            (["send"] + none + ["--to", "a", "play", "x"], 64, "takes no value"),
            (["send"] + none + ["--to", "a", "reboot"], 64, "reboot"),
        ] as [([String], Int32, String)] {
            let run = try await service.command(["fleet"] + arguments)
            #expect(run.exitCode == code, "\(run)")
            #expect(run.errors.contains(words), "\(run)")
            #expect(run.errors.split(separator: "\n").count == 1, "\(run)")
        }
    }

    @Test func `a machine with a certificate connects to a broker that demands one`() async throws {
        let scratch = try ScratchDirectory()
        let script = """
            set -e; cd '\(scratch.path)'
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout ca.key -out ca.pem -subj /CN=ca
            for name in localhost bus12; do
              openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout $name.key -out $name.csr -subj /CN=$name
              printf 'subjectAltName=DNS:%s' $name > ext
              openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out $name.pem -extfile ext
            done
            chmod 600 bus12.key
            """
        try await Tool.run("sh", "-c", script)
        let port = try freePort(SOCK_STREAM)
        let strict = try await Mosquitto([
            "allow_anonymous true", "listener \(port) 127.0.0.1", "cafile \(scratch.file("ca.pem"))",
            "certfile \(scratch.file("localhost.pem"))", "keyfile \(scratch.file("localhost.key"))",
            "require_certificate true", "use_identity_as_username true",
        ])
        _ = strict
        try await service.start(adding: ["SSL_CERT_FILE": scratch.file("ca.pem")])
        let url = "mqtts://localhost:\(port)"
        try await service.run(
            "publish",
            "add",
            "office",
            "--mqtt",
            url,
            "--machine",
            "bus12",
            "--certificate",
            scratch.file("bus12.pem"),
            "--key",
            scratch.file("bus12.key")
        )
        try await connected()
        try await service.run("publish", "add", "none", "--mqtt", url, "--machine", "bus12")
        for _ in 0..<100 {
            let status: PublisherStatus = try await service.json("publish", "show", "none")
            if status.state == .failed { break }
            try await Task.sleep(for: .milliseconds(100))
        }
        let status: PublisherStatus = try await service.json("publish", "show", "none")
        #expect(status.state == .failed, "\(status)")
        #expect(status.why?.contains("certificate") == true, "\(status)")

        for (options, code, words) in [
            (["--certificate", "/none"], 64, "a certificate needs its key"),
            (["--certificate", scratch.file("bus12.pem"), "--key", "/none"], 4, "/none"),
            (["--certificate", "/none", "--key", scratch.file("bus12.key")], 4, "/none"),
            (["--certificate", scratch.file("bus12.pem"), "--key", scratch.file("bus12.pem")], 1, "bus12.pem"),
        ] as [([String], Int32, String)] {
            let run = try await service.command(["publish", "add", "x", "--mqtt", url, "--machine", "m"] + options)
            #expect(run.exitCode == code, "\(run)")
            #expect(run.errors.contains(words), "\(run)")
        }
    }
}
