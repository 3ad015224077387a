import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// `backgrounder open`, the sessions of the page, and the page's servers.
@Suite(.sharing) struct PageTests {
    private let service: Service

    init() async throws {
        service = try Service(TestConfiguration(modes: "[audio, location]"))
    }

    /// A session of the page, with its connections.
    private struct Page {
        let port: Int
        let token: String

        /// Exchanges the code of `link`.
        init(_ link: String) async throws {
            let match = try #require(link.wholeMatch(of: /http:\/\/127\.0\.0\.1:(\d+)\/#([0-9a-f]{32})/), "\(link)")
            port = try #require(Int(match.1))
            let reply = try await HTTPConnection(port: port)
                .send("POST", "/v1/web/session", body: #"{"code":"\#(match.2)"}"#)
            try #require(reply.status == 200, "\(reply.text)")
            token = try JSON.decode(PageToken.self, from: Data(reply.body)).token
        }

        func connection() throws -> HTTPConnection { try HTTPConnection(port: port, token: token) }

        func status(_ method: String, _ target: String, _ body: String? = nil) async throws -> Int {
            try await connection().send(method, target, body: body).status
        }
    }

    /// Runs `backgrounder open` and returns the link on its last line.
    private func link(_ options: String...) async throws -> String {
        let lines = try await service.run(["open", "--no-browser"] + options).text.split(separator: "\n")
        return String(try #require(lines.last))
    }

    /// Returns the TCP ports on which the service listens.
    private func ports() async throws -> [Int] {
        let pid = try #require(service.pid)
        let lines = String(decoding: try await Tool.run("ss", "-Hltnp"), as: UTF8.self).split(separator: "\n")
        return lines.filter { $0.contains("pid=\(pid),") }
            .compactMap { line in line.firstMatch(of: /:(\d+)\s/).flatMap { Int($0.1) } }
    }

    /// Waits until the service listens on no port.
    private func waitForEndOfListening(within seconds: Double) async throws {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while try await !ports().isEmpty {
            try #require(.now < deadline, "the service still listens")
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    @Test func `nothing listens on TCP until the page is opened and 10 s after its last session`() async throws {
        try await service.start()
        #expect(try await ports().isEmpty)
        let page = try await Page(try await link())
        #expect(try await ports() == [page.port])
        #expect(try await page.status("GET", "/v1/status") == 200)
        let stream = try page.connection()
        try await stream.begin("GET", "/v1/events")
        #expect(try await stream.head().status == 200)
        let sessions: [PageSession] = try await service.json("open", "--list")
        #expect(sessions.map(\.scope) == [.control])
        let ended = try await service.run("open", "--revoke", "\(sessions[0].id)")
        #expect(ended.text.contains("ended session \(sessions[0].id)"))
        try await waitForEndOfListening(within: 10)
        _ = try? await stream.socket.receiveAll(within: 5)
        let again = try await service.command(["open", "--revoke", "\(sessions[0].id)"])
        again.expectRefusal(4, ["no session \(sessions[0].id)", "open --list"])
        // The next page has the same address, so that the browser knows it.
        #expect(try await Page(try await link()).port == page.port)
    }

    @Test func `a code works once, and a session that only reads changes nothing`() async throws {
        try await service.start()
        let link = try await link("--read-only", "--for", "1h")
        let page = try await Page(link)
        let code = try #require(link.split(separator: "#").last)
        let connection = try HTTPConnection(port: page.port)
        for _ in 0..<3 {
            let reply = try await connection.send("POST", "/v1/web/session", body: #"{"code":"\#(code)"}"#)
            #expect(reply.status == 401)
            #expect(reply.text.contains("it works once, within 60 s"))
        }
        #expect(try await page.status("POST", "/v1/audio/pause", "{}") == 403)
        #expect(try await page.status("GET", "/v1/queue") == 200)
        let sessions: [PageSession] = try await service.json("open", "--list")
        let rest = try #require(sessions.first).expires.timeIntervalSinceNow
        #expect((3500...3600).contains(rest))
        let log = service.logLines().joined(separator: "\n")
        #expect(!log.contains(code) && !log.contains(page.token), "a secret is in the log")
        #expect(log.contains("of the page began; it may read"))
    }

    @Test func `a page cannot make the service run commands or open files`() async throws {
        try await service.start()
        let page = try await Page(try await link())
        let requests = [
            ("POST", "/v1/tasks", #"{"name":"a","command":["id"]}"#), ("POST", "/v1/stop", "{}"),
            ("POST", "/v1/task-hooks", #"{"name":"a","command":["id"]}"#), ("POST", "/v1/reload", "{}"),
            ("POST", "/v1/fetch", #"{"name":"a","command":["id"]}"#), ("GET", "/v1/web/sessions", nil),
            ("POST", "/v1/transfers", #"{"url":"https://h/x","destination":"/x"}"#),
            ("POST", "/v1/track/import", #"{"path":"/etc/passwd"}"#), ("POST", "/v1/web/codes", "{}"),
            ("POST", "/v1/places/import", #"{"path":"/etc/passwd"}"#), ("DELETE", "/v1/web/sessions/1", nil),
            ("POST", "/v1/push", #"{"name":"a","url":"mqtt://h:1","topic":"t"}"#),
        ]
        for (method, target, body) in requests {
            #expect(try await page.status(method, target, body) == 403, "\(method) \(target)")
        }
        #expect(try await page.status("PATCH", "/v1/audio", #"{"volume":40}"#) == 200)
    }

    @Test func `a page plays what the music directory contains, and nothing else`() async throws {
        let music = service.scratch.file("music")
        try FileManager.default.createDirectory(atPath: music + "/Sub folder", withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: Samples.tunes[0], toPath: music + "/Sub folder/one.mp3")
        try FileManager.default.copyItem(atPath: Samples.tunes[1], toPath: service.scratch.file("secret.mp3"))
        try service.configure(TestConfiguration(musicDirectory: music))
        try await service.start()
        try await FileWatch(service.paths.log).wait(for: "Music database: 1 song")
        let page = try await Page(try await link())
        let connection = try page.connection()
        let top: MusicFolderContent = try await service.get("/v1/library", on: connection)
        #expect(top.folders == ["Sub folder"])
        #expect(top.songs == [])
        let folder: MusicFolderContent = try await service.get("/v1/library?path=Sub%20folder", on: connection)
        #expect(folder.songs.map(\.path) == ["Sub folder/one.mp3"])
        #expect(try await page.status("POST", "/v1/queue", #"{"items":["Sub folder/one.mp3","Sub folder"]}"#) == 201)
        #expect(try await page.status("POST", "/v1/audio/interrupt", #"{"item":"Sub folder/one.mp3"}"#) == 200)
        #expect(try await page.status("POST", "/v1/audio/play", #"{"items":["Sub folder/one.mp3"]}"#) == 200)
        for path in [
            service.scratch.file("secret.mp3"), "../secret.mp3", "Sub folder/../../secret.mp3", "/etc/passwd", "",
            "https://127.0.0.1/x.mp3", "http://127.0.0.1:1/", ".hidden", music + "/Sub folder/one.mp3",
        ] {
            let items = #"{"items":["\#(path)"]}"#
            #expect(try await page.status("POST", "/v1/queue", items) == 403, "\(path)")
            #expect(try await page.status("POST", "/v1/audio/play", items) == 403, "\(path)")
            #expect(try await page.status("POST", "/v1/audio/interrupt", #"{"item":"\#(path)"}"#) == 403, "\(path)")
        }
        try FileManager.default.createSymbolicLink(
            atPath: music + "/link.mp3",
            withDestinationPath: service.scratch.file("secret.mp3")
        )
        #expect(try await page.status("POST", "/v1/queue", #"{"items":["link.mp3"]}"#) == 403)
        #expect(try await page.status("POST", "/v1/queue", #"{"items":["none.mp3"]}"#) == 404)
        #expect(try await page.status("GET", "/v1/audio/cover") == 204)
        let image = [0x89, 0x50, 0x4E, 0x47, 1, 2, 3] as [UInt8]
        try Data(image).write(to: URL(fileURLWithPath: music + "/Sub folder/cover.png"))
        let cover = try await connection.send("GET", "/v1/audio/cover")
        #expect(cover.body == image)
        #expect(cover.headers["content-type"] == "image/png")
    }

    @Test func `the log can be read without its file`() async throws {
        try await service.start()
        // The line about the first point is written before its event.
        try await service.events().wait(for: "a point") { $0.count("location") >= 1 ? true : nil }
        let connection = try service.connection()
        let all: [LogRecord] = try await service.get("/v1/log?last=1000", on: connection)
        #expect(all.contains { $0.message.hasPrefix("App is") })
        let first = try #require(all.first?.timestamp)
        let found: [LogRecord] = try await service.get("/v1/log?grep=APP%20IS&level=info&last=1", on: connection)
        #expect(found.count == 1)
        let later = ISO8601.string(first.addingTimeInterval(3600))
        #expect(try await service.get("/v1/log?since=\(later)", on: connection, as: [LogRecord].self) == [])
    }

    @Test func `large replies are compressed for readers that want it`() async throws {
        try service.configure(
            TestConfiguration(source: "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=max")
        )
        try await service.start()
        try await service.waitForEndOfTrack()
        let connection = try service.connection()
        let plain = try await connection.send("GET", "/v1/track/line")
        let packed = try await connection.send("GET", "/v1/track/line", headers: ["accept-encoding": "br, gzip"])
        #expect(plain.headers["content-encoding"] == nil)
        #expect(packed.headers["content-encoding"] == "gzip")
        #expect(packed.body.count * 2 < plain.body.count)
        try Data(packed.body).write(to: URL(fileURLWithPath: service.scratch.file("line.gz")))
        #expect(try await Tool.run("gunzip", "-c", service.scratch.file("line.gz")) == Data(plain.body))
        let line = try JSON.decode(TrackLine.self, from: Data(plain.body))
        #expect(line.segments.reduce(0) { $0 + $1.count } > 50)
        let small = try await connection.send("GET", "/v1/location", headers: ["accept-encoding": "gzip"])
        #expect(small.headers["content-encoding"] == nil)
    }

    @Test func `sessions and the port survive a killed service, and codes do not`() async throws {
        try await service.start()
        let page = try await Page(try await link())
        let pending = try await link()
        try await service.crash()
        try await service.start()
        try await FileWatch(service.paths.log).wait(for: "App is")
        #expect(try await ports() == [page.port])
        #expect(try await page.status("GET", "/v1/status") == 200)
        let code = try #require(pending.split(separator: "#").last)
        let body = #"{"code":"\#(code)"}"#
        #expect(try await HTTPConnection(port: page.port).send("POST", "/v1/web/session", body: body).status == 401)
        let stored = FileManager.default.contents(atPath: service.paths.database) ?? Data()
        #expect(stored.firstRange(of: Data(page.token.utf8)) == nil)
        let journal = FileManager.default.contents(atPath: service.paths.database + "-wal") ?? Data()
        #expect(journal.firstRange(of: Data(page.token.utf8)) == nil)
    }

    @Test func `a session ends at its time, and the page with it`() async throws {
        try await service.start()
        let page = try await Page(try await link("--for", "3s"))
        let stream = try page.connection()
        try await stream.begin("GET", "/v1/events")
        #expect(try await stream.head().status == 200)
        try await waitForEndOfListening(within: 12)
        #expect(try await service.json("open", "--list", as: [PageSession].self).isEmpty)
        #expect(try await service.run("open", "--list").text == "No sessions; begin one with `backgrounder open`.\n")
    }

    @Test func `a page that is in use attaches, and the service suspends after it`() async throws {
        try service.configure(TestConfiguration(modes: "[]"))
        try await service.start()
        let page = try await Page(try await link())
        let events = try service.events()
        let stream = try page.connection()
        try await stream.begin("GET", "/v1/events?attach=1", headers: ["sec-fetch-site": "same-origin"])
        #expect(try await stream.head().status == 200)
        try await events.wait(until: .active, attached: 1)
        stream.socket.finishSending()
        try await events.wait(until: .suspended, attached: 0)
    }

    @Test func `wrong options and a port in use are refused`() async throws {
        try await service.start()
        for (options, words) in [
            (["--port", "0"], ["--port 0 is out of range"]), (["--for", "31d"], ["not a valid duration"]),
            (["--list", "--read-only"], ["exclude"]), (["--ssh=-oProxyCommand=x"], ["is not a valid host"]),
        ] {
            let run = try await service.command(["open"] + options)
            #expect(run.exitCode == 64, "\(run)")
            for word in words { #expect(run.errors.contains(word), "\(run)") }
        }
        let used = try CrowdedPort()
        try await service.command(["open", "--port", "\(used.port)"])
            .expectRefusal(1, ["cannot listen on 127.0.0.1:\(used.port)", "in use"])
        try await waitForEndOfListening(within: 10)
        let page = try await Page(try await link())
        let other = try freePort(SOCK_STREAM)
        try await service.command(["open", "--port", "\(other)"])
            .expectRefusal(1, ["already on port \(page.port)", "--revoke"])
    }

    @Test func `a network needs a certificate and names, and is then served with TLS`() async throws {
        let port = try freePort(SOCK_STREAM)
        let configuration = { (rest: [String]) in
            try service.configure(TestConfiguration(rest: ["web:", "  listen: [\"127.0.0.1:\(port)\"]"] + rest))
        }
        try configuration([])
        let refused = try await service.command(["start"])
        refused.expectRefusal(1, ["web.tls.certificate, web.tls.key, web.hosts", "backgrounder open"])
        try await Certificate.make(in: service.scratch)
        let names = ["  hosts: [Localhost]", "  tls: {certificate: cert, key: key}"]
        try configuration(names)
        try await service.start()
        try await FileWatch(service.paths.log).wait(for: "The page is served at 127.0.0.1:\(port)")
        let links = try await service.run("open", "--no-browser").text.split(separator: "\n").map(String.init)
        #expect(links.count == 2)
        #expect(links[0].hasPrefix("https://localhost:\(port)/#"))
        let certificate = service.scratch.file("cert")
        func get(_ url: String) async throws -> (code: Int32, text: String) {
            let format = "\n%{http_code}"
            let run = try await ProgramRun.of("/usr/bin/curl", ["-s", "--cacert", certificate, "-w", format, url])
            return (run.exitCode, run.text)
        }
        let page = try await get("https://localhost:\(port)/")
        #expect(page.text.hasPrefix("<!doctype html>"))
        #expect(page.text.hasSuffix("\n200"))
        #expect(try await get("https://localhost:\(port)/v1/status").text.hasSuffix("\n401"))
        // Plain HTTP gets nothing.
        #expect(try await get("http://localhost:\(port)/").code != 0)
        try service.scratch.write("no key\n", to: "key")
        let faulty = try await service.command(["restart"])
        faulty.expectRefusal(1, ["web.tls.key: cannot use", "key"])
    }

    @Test func `the page of another machine is opened through ssh`() async throws {
        try await service.start()
        let port = try freePort(SOCK_STREAM)
        // Stands in for the other machine: its page has another port here, which the tunnel leads to.
        let folder = service.scratch.file("bin")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try service.scratch.write(
            """
            #!/bin/sh
            echo "$@" >> '\(service.home)/ssh.log'
            if [ "$1" = -- ]; then
                shift 2
                shift
                '\(Products.backgrounder)' "$@" | sed 's#:[0-9][0-9]*/#:\(port)/#'
            else
                exec python3 -m http.server --protocol HTTP/1.1 --bind 127.0.0.1 \(port) >/dev/null 2>&1
            fi

            """,
            to: "bin/ssh"
        )
        chmod(folder + "/ssh", 0o755)
        let path = folder + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
        let output = try PipeEnds()
        let process = try ForegroundProcess(
            Products.backgrounder,
            ["open", "--ssh", "pi@bus7", "--read-only", "--for", "10m", "--no-browser"],
            environment: service.environment.merging(["PATH": path]) { $1 },
            descriptors: [1: output.writeEnd]
        )
        close(output.writeEnd)
        let link = try await LineReader(output.readEnd).wait(for: "the link") { lines, isAtEnd in
            if isAtEnd, lines.isEmpty { throw StreamEnded(before: "the link") }
            return lines.first
        }
        #expect(link.hasPrefix("http://127.0.0.1:\(port)/#"))
        #expect(try await HTTPConnection(port: port).send("GET", "/").status == 200)
        process.kill(SIGINT)
        #expect(try await process.waitForEnd() == 130)
        // The tunnel ended with the command.
        await #expect(throws: (any Error).self) {
            while true { _ = try await HTTPConnection(port: port).send("GET", "/") }
        }
        let calls = try String(contentsOfFile: service.scratch.file("ssh.log"), encoding: .utf8)
        #expect(
            calls == """
                -- pi@bus7 backgrounder open --no-browser --read-only --for 600.0s
                -N -o ExitOnForwardFailure=yes -L \(port):127.0.0.1:\(port) -- pi@bus7

                """
        )
    }
}
