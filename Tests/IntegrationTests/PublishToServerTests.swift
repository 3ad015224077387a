import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// Publishing to a web server that fails in each way: no point is lost, and the order is that of the history.
@Suite(.sharing) struct PublishToServerTests {
    private let service: Service

    init() async throws {
        service = try Service(
            TestConfiguration(
                source: "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=20",
                rest: ["publish: {startWithin: 0s}", "transfers: {allowHTTP: [127.0.0.1]}"]
            )
        )
    }

    private func add(_ url: String, _ options: String...) async throws {
        try await service.run(["publish", "add", "office", "--http", url, "--machine", "bus12"] + options)
    }

    private func status() async throws -> PublisherStatus { try await service.publisher() }

    private func wait(_ what: String, _ isThere: (PublisherStatus) -> Bool) async throws {
        try await service.wait(forPublisher: what, isThere)
    }

    /// The numbers of the points that were sent with a reply of success.
    private func numbers(_ requests: [TestWebRequest]) throws -> [Int] {
        try requests.map { request in
            let point = try JSON.decode(JSONValue.self, from: Data(request.body))
            return Int(try #require(point["bg"]?["n"]?.number))
        }
    }

    @Test func `every point is posted in order, over ends of the server and kills of the service`() async throws {
        let server = try TestWebServer()
        let (port, url) = (server.port, server.url("/pub?key=1"))
        server.reply(to: "/pub", body: "[]")
        try await service.start()
        let secret = service.file("secret")
        try "user = ann\npassword = secret\n".write(toFile: secret, atomically: true, encoding: .utf8)
        chmod(secret, 0o600)
        try await add(url, "--since", "2000-01-01", "--owntracks", "Ann/bus", "--credentials", secret)
        try await wait("points") { $0.state == .connected && $0.acknowledged > 30 }
        try await service.crash()
        try await service.start()
        try await wait("points after a kill of the service") { $0.state == .connected && $0.acknowledged > 80 }
        server.end()
        try await wait("the loss of the server") { $0.state == .waiting && $0.backlog > 20 }
        #expect(try await status().why == "cannot connect to 127.0.0.1:\(port): connection refused")
        let next = try TestWebServer(port: port)
        next.reply(to: "/pub", 204)
        try await service.run("location", "stop")
        try await wait("the end of the backlog") { $0.state == .connected && $0.backlog == 0 }

        let requests = server.requests() + next.requests()
        let first = try #require(requests.first)
        #expect((first.method, first.path, first.query) == ("POST", "/pub", "key=1"))
        #expect(first.headers["content-type"] == "application/json")
        #expect((first.headers["x-limit-u"], first.headers["x-limit-d"]) == ("Ann", "bus"))
        #expect(first.headers["authorization"] == "Basic YW5uOnNlY3JldA==")
        let point = try JSON.decode(JSONValue.self, from: Data(first.body))
        #expect(point["_type"]?.string == "location")
        #expect(point["topic"]?.string == "owntracks/Ann/bus")

        let history = try await service.json("track", "history", as: [Location].self)
        let numbers = try numbers(requests)
        #expect(Set(numbers) == Set(1...history.count))
        var newest = 0
        for number in numbers where number > newest {
            #expect(number == newest + 1)
            newest = number
        }
        #expect(numbers.count - history.count <= 80, "the window, twice for a kill")
        #expect(try await status().live == nil)
    }

    @Test func `a server that fails is reported in one line, and receives each point when it works again`() async throws
    {
        let server = try TestWebServer()
        try await service.start()
        try await add(server.url("/pub"))
        typealias Fault = (state: PublisherState, why: String, script: TestWebServer.Script)
        let faults: [Fault] = [
            (.waiting, "the server cannot take points now (503)", { try $1.reply(503, ["Retry-After": "1"]) }),
            (
                .failed, "the server redirects to https://a.example/pub (308); use that URL",
                {
                    try $1.reply(308, ["Location": "https://a.example/pub"])
                }
            ),
            (.failed, "not authorised (401); check the user and password (--credentials FILE)", { try $1.reply(401) }),
            (.failed, "the server refuses the points (404); check the URL", { try $1.reply(404) }),
            (.waiting, "the server reset the connection", { $1.reset() }),
            (
                .waiting, "\(server.url("").dropFirst("http://".count)) does not answer",
                { $1.wait(milliseconds: 30_000) }
            ),
        ]
        for fault in faults {
            server.on("/pub", fault.script)
            // A new attempt follows immediately.
            try await service.run("publish", "pause", "office")
            try await service.run("publish", "resume", "office")
            try await wait(fault.why) { $0.state == fault.state && $0.why == fault.why }
            #expect(try await status().acknowledged == 0)
        }
        let doctor = try await service.command(["doctor"])
        #expect(doctor.text.contains("check that the server runs"), "\(doctor)")
        // A pause may end an attempt.
        #expect(try await status().published < faults.count)
        // A status of success is enough, even if the reply is cut off.
        server.on("/pub") { _, connection in
            try connection.sendHead(200, ["Content-Length": "1000"])
            connection.close()
        }
        try await service.run("publish", "pause", "office")
        try await service.run("publish", "resume", "office")
        try await wait("a point with half a reply") { $0.acknowledged > 0 }
        try await service.run("publish", "pause", "office")
        let (count, acknowledged) = (server.requests().count, try await status().acknowledged)
        // A reply of any length is not read to its end.
        server.on("/pub") { _, connection in try connection.reply(200, [:], [UInt8](repeating: 0x20, count: 1 << 20)) }
        try await service.run("location", "stop")
        try await service.run("publish", "pause", "office")
        try await service.run("publish", "resume", "office")
        try await wait("the end of the backlog") { $0.state == .connected && $0.backlog == 0 }
        let history = try await service.json("track", "history", as: [Location].self)
        let numbers = try numbers(Array(server.requests()[count...]))
        #expect(numbers.count == (try await status().acknowledged) - acknowledged)
        #expect(numbers == Array((history.count - numbers.count + 1)...history.count))
    }

    @Test func `wrong input is refused in one line`() async throws {
        try await service.start()
        let add = ["publish", "add", "b", "--machine", "m"]
        for (arguments, code, words) in [
            (add, 64, "use either --mqtt URL or --http URL"),
            (add + ["--mqtt", "mqtt://h", "--http", "http://h"], 64, "use either --mqtt URL or --http URL"),
            (add + ["--http", "mqtt://h"], 64, "use a URL that begins with http:// or https://"),
            (add + ["--http", "http://"], 64, "has no valid host"),
            (add + ["--http", "http://ann:secret@h/"], 64, "must not contain credentials"),
            (add + ["--http", "http://h/"], 1, "use https, or add h to transfers.allowHTTP"),
            (add + ["--http", "http://h/", "--group", "red"], 64, "only a broker can"),
            (add + ["--http", "http://h/", "--home-assistant"], 64, "only a broker can"),
            (add + ["--http", "https://h/", "--certificate", "/a", "--key", "/b"], 64, "a certificate needs TLS"),
            (add + ["--http", "http://h/", "--credentials", "/none"], 4, "/none"),
        ] as [([String], Int32, String)] {
            let run = try await service.command(arguments)
            #expect(run.exitCode == code, "\(run)")
            #expect(run.errors.contains(words), "\(run)")
            #expect(run.errors.split(separator: "\n").count == 1, "\(run)")
        }
        try service.configure(
            TestConfiguration(rest: ["publish: {brokers: {web: {http: \"http://127.0.0.1:9/\", machine: m}}}"])
        )
        try await service.run("reload")
        let declared: PublisherStatus = try await service.json("publish", "show", "web")
        #expect(declared.declared)
        #expect(declared.url == "http://127.0.0.1:9/")
    }
}
