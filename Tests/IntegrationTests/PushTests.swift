import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// Silent push end to end: the service, a mosquitto broker, and sources that are commands.
@Suite(.sharing) struct PushTests {
    private static func configuration() -> TestConfiguration {
        TestConfiguration(
            modes: "[fetch, remote-notification]",
            source: "gpx:\(Products.repository("tracks/city-walk.gpx"))"
        )
    }

    private static func message(_ source: String, _ id: String, alert: String? = nil) -> String {
        let alert = alert.map { #","alert":"\#($0)""# } ?? ""
        return #"{"content-available":1,"source":"\#(source)","id":"\#(id)"\#(alert)}"#
    }

    private static func runs(of source: String, in service: Service) async throws -> [FetchRun] {
        try await service.json("fetch", "log", source)
    }

    @Test func `29 of 30 fetches begin within 0.2 s of their message`() async throws {
        // The broker delivers nothing while it stores its sessions; half an hour is its default.
        let broker = try await Mosquitto(["allow_anonymous true", "autosave_interval 1800"])
        let service = try Service(Self.configuration())
        try await service.start()
        let names = (1...30).map { "s\($0)" }
        for name in names {
            try await service.run("fetch", "add", name, "--exec", "date +%s.%N >> \(service.file(name))")
        }
        try await service.run("push", "add", "all", "--mqtt", "mqtt://localhost:\(broker.port)", "--topic", "t")
        let sender = try MessageSender(to: broker.port)
        // Its first message shows when it is connected.
        try sender.send("no message")
        try await FileWatch(broker.log).wait(for: sender.id)
        var sent: [String: Date] = [:]
        var delays: [Double] = []
        for name in names {
            sent[name] = Date()
            try sender.send(Self.message(name, name))
            try await FileWatch(service.file(name)).wait(for: ".")
        }
        for name in names {
            let run = try #require(try await Self.runs(of: name, in: service).first)
            #expect(run.trigger == .push)
            delays.append(run.began.timeIntervalSince(try #require(sent[name])))
        }
        #expect(delays.sorted()[28] < 0.2, "\(delays.sorted())")
        let status: [PushStatus] = try await service.json("push", "list")
        try #require(status.map(\.received) == [30])
        #expect(status[0].ignored.malformed == 1)
    }

    @Test func `a storm of 100 messages leads to at most three fetches, and the newest alert is last`() async throws {
        let (service, broker) = (try Service(Self.configuration()), try await Mosquitto())
        try await service.start()
        try await service.run("fetch", "add", "news", "--exec", "echo run >> \(service.file("runs"))")
        try await service.run("push", "add", "all", "--mqtt", "mqtt://localhost:\(broker.port)", "--topic", "t")
        try await broker.publish((1...100).map { Self.message("news", "\($0)", alert: "Number \($0)") })
        try await FileWatch(service.paths.log).wait(for: "Alert: Number 100")
        let runs = try await Self.runs(of: "news", in: service)
        #expect((1...3).contains(runs.count), "\(runs)")
        let lines = service.logLines().map { $0.split(separator: " ").dropFirst(2).joined(separator: " ") }
        #expect(lines.last { $0.hasPrefix("Alert: ") } == "Alert: Number 100")
        let status: [PushStatus] = try await service.json("push", "list")
        #expect(status[0].received == 100)
        // A repeated message is a duplicate.
        try await broker.publish([Self.message("news", "100"), "x", Self.message("nothing", "1")])
        let refused = try await service.command(["push", "simulate", "all", "--payload", Self.message("news", "1")])
        refused.expectRefusal(1, ["ignored", "duplicate"])
    }

    @Test func `a killed service loses no message, neither the current one nor those sent meanwhile`()
        async throws
    {
        let (service, broker) = (try Service(Self.configuration()), try await Mosquitto())
        try await service.start()
        let gate = service.file("gate")
        let command =
            "echo began >> \(service.file("slow")); while [ ! -e \(gate) ]; do sleep 0.05; done; echo ended >> \(service.file("slow"))"
        try await service.run("fetch", "add", "slow", "--exec", command)
        for name in ["a", "b", "c"] {
            try await service.run("fetch", "add", name, "--exec", "echo done >> \(service.file(name))")
        }
        try await service.run("push", "add", "all", "--mqtt", "mqtt://localhost:\(broker.port)", "--topic", "t")
        try await broker.publish(Self.message("slow", "1"))
        try await FileWatch(service.file("slow")).wait(for: "began")
        try await service.crash()
        try await broker.publish([Self.message("a", "2"), Self.message("b", "3")])
        // The broker restarts, too, with the messages that it keeps.
        try await broker.restart()
        try await broker.publish(Self.message("c", "4"))
        try Data().write(to: URL(fileURLWithPath: gate))
        try await service.start()
        for name in ["a", "b", "c"] { try await FileWatch(service.file(name)).wait(for: "done") }
        do {
            try await FileWatch(service.file("slow")).wait(for: "ended")
        } catch {
            Issue.record("\(error): \(service.logLines()) \(try await Self.runs(of: "slow", in: service))")
        }
        for name in ["a", "b", "c"] { #expect(try await Self.runs(of: name, in: service).count == 1) }
        let status: [PushStatus] = try await service.json("push", "list")
        #expect(status[0].received == 4)
        #expect(status[0].ignored == PushIgnored())
    }

    @Test func `TLS trusts the system authorities and requires the right host name`() async throws {
        let scratch = try ScratchDirectory()
        try await Certificate.make(in: scratch)
        let broker = try await Mosquitto(
            ["allow_anonymous true", "certfile \(scratch.file("cert"))", "keyfile \(scratch.file("key"))"]
        )
        let service = try Service(Self.configuration())
        try await service.start(adding: ["SSL_CERT_FILE": scratch.file("cert")])
        try await service.run("fetch", "add", "a", "--exec", "echo done >> \(service.file("a"))")
        let added = try await service.run(
            "push",
            "add",
            "tls",
            "--mqtt",
            "mqtts://localhost:\(broker.port)",
            "--topic",
            "t"
        )
        #expect(added.text.hasPrefix("tls: connected"), "\(added)")
        let wrong = try await service.run(
            "push",
            "add",
            "wrong",
            "--mqtt",
            "mqtts://127.0.0.1:\(broker.port)",
            "--topic",
            "t"
        )
        #expect(wrong.text.hasPrefix("wrong: refused"), "\(wrong)")
        #expect(wrong.errors.contains("the broker's certificate is for another host name"), "\(wrong)")
        try await broker.publish(Self.message("a", "1"), options: ["--cafile", scratch.file("cert")])
        try await FileWatch(service.file("a")).wait(for: "done")
        let line = try #require(service.logLines().first { $0.contains("Push wrong: refused") })
        #expect(line.contains(" error "))
    }

    @Test func `running out of file descriptors is reported, and the connection is retried`() async throws {
        let (service, broker) = (try Service(Self.configuration()), try await Mosquitto())
        let pid = try await service.start()
        let connection = try service.connection()
        _ = try await connection.send("GET", "/v1/push")
        // Forbid the lowest free descriptor and those above it.
        var used: Set<Int> = []
        while true {
            let now = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").compactMap { Int($0) }
            if used == Set(now) { break }
            used = Set(now)
            // Descriptors from the start may close a moment later, and no event reports it.
            try await Task.sleep(for: .milliseconds(200))
        }
        let free = (0...).first { !used.contains($0) }!
        try await Tool.run("prlimit", "--pid", "\(pid)", "--nofile=\(free):")
        let request = PushRequest(name: "all", url: "mqtt://localhost:\(broker.port)", topic: "t")
        let reply = try await connection.send("POST", "/v1/push", body: try JSON.line(request))
        let status = try JSON.decode(PushStatus.self, from: Data(reply.body))
        #expect(reply.status == 201, "\(reply.text)")
        #expect(status.lastError?.contains("Too many open files") == true, "\(reply.text)")
        try await Tool.run("prlimit", "--pid", "\(pid)", "--nofile=1024:")
        try await FileWatch(service.paths.log).wait(for: "Push all: connected", within: 60)
        #expect(service.logLines().count { $0.contains("Push all: cannot listen") } == 1)
    }

    @Test func `each kind of bad input is refused in one line`() async throws {
        let service = try Service(Self.configuration())
        try await service.start()
        let add = ["push", "add"]
        let wrong: [([String], Int32, [String])] = [
            (add + ["a b", "--mqtt", "mqtt://b", "--topic", "t"], 64, ["name"]),
            (add + ["a", "--mqtt", "http://b", "--topic", "t"], 64, ["mqtt://"]),
            (add + ["a", "--mqtt", "mqtt://u:secret@b", "--topic", "t"], 64, ["--credentials"]),
            (add + ["a", "--mqtt", "mqtt://b", "--topic", "t/#/x"], 64, ["topic"]),
            (add + ["a", "--topic", "t"], 64, ["--mqtt"]),
            (add + ["a", "--mqtt", "mqtt://b", "--topic", "t", "--credentials", "/nowhere"], 4, ["no such file"]),
            (["push", "remove", "nothing"], 4, ["nothing"]),
            (["push", "simulate", "nothing", "--payload", "{}"], 4, ["nothing"]),
        ]
        for (arguments, code, words) in wrong { try await service.command(arguments).expectRefusal(code, words) }
        let file = try service.scratch.write("ann\nsecret", to: "c")
        chmod(file, 0o644)
        let open = try await service.command(add + ["a", "--mqtt", "mqtt://b", "--topic", "t", "--credentials", file])
        open.expectRefusal(1, ["chmod 600"])
        #expect(try await service.json("push", "list", as: [PushStatus].self).isEmpty)
        try await service.run("push", "add", "a", "--mqtt", "mqtt://localhost:1", "--topic", "t")
        try await service.command(add + ["a", "--mqtt", "mqtt://b", "--topic", "t"]).expectRefusal(1, ["already"])
        try await service.command(["push", "simulate", "a", "--payload", "{"]).expectRefusal(1, ["malformed"])
        try await service.run("push", "remove", "a")
    }

    @Test func `undeclared push listens while a client is attached, and the broker keeps later messages`() async throws
    {
        var configuration = Self.configuration()
        configuration.modes = "[fetch]"
        let (service, broker) = (try Service(configuration), try await Mosquitto())
        try await service.start()
        try await service.run("fetch", "add", "a", "--exec", "echo done >> \(service.file("a"))")
        var events = try service.events(attach: true)
        try await events.wait(forState: "the first state") { _ in true }
        let added = try await service.run(
            "push",
            "add",
            "all",
            "--mqtt",
            "mqtt://localhost:\(broker.port)",
            "--topic",
            "t"
        )
        #expect(added.text.contains("connected"))
        events.detach()
        try await FileWatch(service.paths.log).wait(for: ", 0 attached")
        let suspended = try await service.command(["push", "simulate", "all", "--payload", Self.message("a", "0")])
        suspended.expectRefusal(1, ["not in modes"])
        try await broker.publish(Self.message("a", "1"))
        events = try service.events(attach: true)
        try await FileWatch(service.file("a")).wait(for: "done")
        #expect(try await Self.runs(of: "a", in: service).count == 1)
        events.detach()
    }
}
