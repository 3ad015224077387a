import BackgrounderAPI
import Foundation
import Synchronization
import SystemSupport
import TestSupport
import Testing

/// Transfers through the commands, as users and scripts use them.
@Suite(.sharing) struct TransferTests {
    @Test func `transfers run, are listed, and repeat their events until these are acknowledged`() async throws {
        let service = try Service.forTransfers()
        try await service.start()
        let server = try TestWebServer()
        server.reply(to: "/a%20b.txt", headers: ["ETag": "\"1\""], body: "hello")
        server.reply(to: "/in", 201)
        let run = try await service.run(
            "transfer",
            "get",
            server.url("/a%20b.txt"),
            "\(service.home)/downloads/",
            "--session",
            "maps"
        )
        #expect(run.text == "1\n")
        #expect(run.errors.isEmpty)
        let waited = try await service.run("transfer", "put", service.file("config.yaml"), server.url("/in"), "--wait")
        #expect(waited.text == "2\n")
        #expect(waited.errors.isEmpty)
        let events = try service.events()
        try await events.wait(forState: "no transfers", within: 60) { $0.status.transfers == nil }
        #expect(FileManager.default.contents(atPath: service.file("downloads/a b.txt")) == Data("hello".utf8))
        let list: [Transfer] = try await service.json("transfer", "list")
        try #require(list.map(\.id) == [1, 2])
        #expect(list.map(\.state) == [.done, .done])
        #expect(list.map(\.direction) == [.get, .put])
        #expect(list[0].received == 5)
        #expect(list[0].total == 5)
        #expect(list[0].session == "maps")
        let told: [TransferEvent] = try await service.json("transfer", "events", "maps")
        #expect(told.map(\.seq) == [1])
        #expect(told.map(\.transfer) == [1])
        #expect(told.map(\.state) == ["done"])
        let left: [TransferEvent] = try await service.json("transfer", "events", "maps", "--ack", "1")
        #expect(left.map(\.seq) == [2])
        #expect(left.map(\.state) == ["all-events-delivered"])
        let none: [TransferEvent] = try await service.json("transfer", "events", "maps", "--ack", "2")
        #expect(none.isEmpty)
        let table = try await service.run("transfer")
        #expect(table.text.contains("a b.txt"))
        #expect(table.text.contains("100%"))
    }

    @Test func `transfers and fetches read credentials from a file and reveal them nowhere else`() async throws {
        var configuration = TestConfiguration(modes: "[fetch]", rest: ["transfers: {allowHTTP: [127.0.0.1]}"])
        configuration.rest += ["log: {level: trace}"]
        let service = try Service(configuration)
        try await service.start()
        let server = try TestWebServer()
        server.reply(to: "/file", body: "hello")
        server.reply(to: "/in", 201)
        let file = try service.scratch.write(
            "user = ann\npassword = Tr0ub4dor\nheader = X-Key: C0rrectHorse\n",
            to: "c"
        )
        let secrets = ["Tr0ub4dor", "C0rrectHorse", Data("ann:Tr0ub4dor".utf8).base64EncodedString()]
        let get = ["transfer", "get", server.url("/file"), service.file("downloads/"), "--credentials", file]
        try await service.command(get).expectRefusal(1, [file, "0644", "chmod 600"])
        chmod(file, 0o600)
        try await service.run(get + ["--wait"])
        try await service.run("transfer", "put", file, server.url("/in"), "--credentials", file, "--wait")
        try await service.run("fetch", "add", "f", "--url", server.url("/file"), "--kind", "raw", "--credentials", file)
        try await service.run("fetch", "run", "f")
        try await service.crash()
        try await service.start()
        try await service.run("fetch", "run", "f")
        let requests = server.requests()
        #expect(requests.count == 4)
        for request in requests {
            #expect(request.headers["authorization"] == "Basic \(secrets[2])")
            #expect(request.headers["x-key"] == secrets[1])
        }
        var shown = service.logLines().joined(separator: "\n")
        for command in [["status"], ["transfer", "list"], ["fetch", "show", "f"], ["fetch", "log", "f"], ["doctor"]] {
            shown += try await service.command(command + ["--format", "json"]).text
        }
        let state = URL(fileURLWithPath: service.paths.state)
        let files = try FileManager.default.contentsOfDirectory(at: state, includingPropertiesForKeys: nil)
        for file in files.filter({ $0.lastPathComponent.hasPrefix("backgrounder.sqlite") }) {
            shown += String(decoding: try Data(contentsOf: file), as: Unicode.ASCII.self)
        }
        #expect(shown.contains("New data was fetched"))
        for secret in secrets { #expect(!shown.contains(secret)) }
        let address = server.url("/file").replacing("http://", with: "http://ann:Tr0ub4dor@")
        for command in [["transfer", "get", address, "x"], ["fetch", "add", "g", "--url", address]] {
            try await service.command(command).expectRefusal(64, ["--credentials FILE"])
        }
        let connection = try service.connection()
        let request = TransferRequest(url: address, destination: service.file("downloads/"))
        let reply = try await connection.send("POST", "/v1/transfers", body: JSON.line(request))
        #expect(reply.status == 422, "\(reply.text)")
        #expect(reply.text.contains("--credentials FILE"), "\(reply.text)")
        #expect(!reply.text.contains("Tr0ub4dor"))
    }

    @Test func `each kind of bad input gets one clear line and its exit code`() async throws {
        let service = try Service.forTransfers()
        let inputs = [
            WrongInput("transfer get ftp://h/x HOME/x", 64, "ftp"),
            WrongInput("transfer get x HOME/x", 64, "not a valid URL"),
            WrongInput("transfer get https:///x HOME/x", 64, "not a valid URL"),
            WrongInput("transfer get https://h/x", 64, "dest"),
            WrongInput("transfer get https://h/x HOME/x --sha256 abc", 64, "SHA-256"),
            WrongInput("transfer get https://h/x HOME/x --size-max 0", 64, "size"),
            WrongInput("transfer get https://h/x HOME/x --size-max -1", 64, "size"),
            WrongInput("transfer get https://h/x HOME/x --exists never", 64, "never"),
            WrongInput("transfer get https://h/x HOME/x --now --discretionary", 64, "--now"),
            WrongInput("transfer get https://h/x HOME/x --session a/b", 64, "a/b"),
            WrongInput("transfer get https://h/x HOME/x --timeout 3s", 64, "--wait"),
            WrongInput("transfer put HOME/x https://h/x --wait --timeout 0", 64, "30s"),
            WrongInput("transfer pause x", 64, "x"), WrongInput("transfer events", 64, "session"),
        ]
        for input in inputs { try await input.check(service) }
        try await WrongInput("transfer list", 3, "not running").check(service)
        try await service.start()
        for input in [
            WrongInput("transfer get http://example.org/x HOME/downloads/", 1, "http", "allowHTTP"),
            WrongInput("transfer get https://h/x /etc/x", 1, "/etc", "transfers.roots"),
            WrongInput("transfer get https://h/..%2f..%2fetc%2fpasswd HOME/downloads/", 1, "slash"),
            WrongInput("transfer get https://h/ HOME/downloads/", 1, "the name is empty"),
            WrongInput("transfer put HOME/nowhere https://h/x", 4, "nowhere"),
            WrongInput("transfer put HOME https://h/x", 1, "not a readable regular file"),
            WrongInput("transfer pause 7", 4, "7"), WrongInput("transfer resume 7", 4, "7"),
            WrongInput("transfer cancel 7", 4, "7"), WrongInput("transfer events nobody", 4, "nobody"),
        ] { try await input.check(service) }
        let list: [Transfer] = try await service.json("transfer", "list")
        #expect(list.isEmpty)
    }

    @Test func `transfers wait while the disk is full, and neither lose data nor count attempts`() async throws {
        let service = try Service.forTransfers()
        let folder = service.file("downloads")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let process = try await service.start(
            unsharing: ["-m", "--propagation", "private"],
            after: "mount -t tmpfs -o size=1m tmpfs '\(folder)'"
        )
        let server = try TestWebServer(sendBuffer: 4096)
        let (known, unknown) = (
            TestWebFile(size: 3_000_000, seed: 1), TestWebFile(size: 3_000_000, seed: 2) { $0.isChunked = true }
        )
        server.on("/known", known.script)
        server.on("/unknown", unknown.script)
        let events = try service.events()
        try await service.run("transfer", "get", server.url("/known"), folder + "/")
        try await events.wait(forState: "a wait for the disk", within: 60) {
            $0.status.transfers?.first?.waitingFor == .disk
        }
        try await service.run("transfer", "get", server.url("/unknown"), folder + "/")
        let state = try await events.wait(forState: "two waits for the disk", within: 60) { state in
            state.status.transfers?.count == 2 && state.status.transfers?.allSatisfy { $0.waitingFor == .disk } == true
        }
        for transfer in state.status.transfers ?? [] {
            #expect(transfer.attempts == 0, "\(transfer)")
            #expect(
                transfer.error?.contains("full") == true || transfer.error?.contains("space") == true,
                "\(transfer)"
            )
        }
        #expect(state.status.transfers?.last?.received ?? 0 > 500_000)
        try await Tool.run("nsenter", "-t", "\(process.pid)", "-m", "mount", "-o", "remount,size=16m", folder)
        for id in ["1", "2"] { try await service.run("transfer", "resume", id) }
        try await service.events().wait(forState: "the end", within: 60) { $0.status.transfers == nil }
        for (name, file) in [("known", known), ("unknown", unknown)] {
            let data = FileManager.default.contents(atPath: "/proc/\(process.pid)/root\(folder)/\(name)")
            #expect(data.map(Array.init) == file.content())
        }
        let list: [Transfer] = try await service.json("transfer", "list")
        #expect(list.map(\.state) == [.done, .done])
        #expect(list.map(\.restarts) == [0, 0])
        for (id, name) in [(1, "known"), (2, "unknown")] {
            let lines = service.logLines()
            let waits = lines.filter {
                $0.contains(" warning Transfer \(id): waiting for disk space, \(folder)/\(name): ")
            }
            let ends = lines.filter {
                $0.hasSuffix(" info Transfer \(id): the disk has space again, \(folder)/\(name)")
            }
            #expect(waits.count == 1, "\(lines)")
            #expect(ends.count == 1, "\(lines)")
        }
        // The received bytes were not sent again.
        #expect(unknown.sent < 3_300_000, "\(unknown.sent)")
        process.kill(SIGTERM)
        try await process.waitForEnd()
    }

    @Test func `an offline transfer waits for a route and continues as soon as the kernel has one`() async throws {
        let service = try Service.forTransfers()
        let process = try await service.start(unsharing: ["-n"])
        try await service.run("transfer", "get", "https://192.0.2.1/x", service.file("downloads/x"))
        let events = try service.events()
        let state = try await events.wait(forState: "a wait for the network", within: 60) {
            $0.status.transfers?.first?.waitingFor == .network
        }
        #expect(state.status.transfers?.first?.attempts == 0)
        let later = try service.events()
        try await later.wait(forState: "the same wait", within: 60) {
            $0.status.transfers?.first?.waitingFor == .network
        }
        for words in [["link", "set", "lo", "up"], ["route", "add", "default", "dev", "lo"]] {
            try await Tool.run(words: ["nsenter", "-t", "\(process.pid)", "-n", "ip"] + words)
        }
        // It retries now, not in ten minutes; the attempt itself may fail.
        let next = try await later.wait(forState: "another attempt", within: 60) {
            $0.status.transfers?.first?.state == .running
                || $0.status.transfers?.first?.error?.contains("192.0.2.1") == true
                    && $0.status.transfers?.first?.waitingFor != .network
        }
        #expect(next.status.transfers?.first?.restarts == 0)
        try await service.run("transfer", "cancel", "1")
        process.kill(SIGTERM)
        try await process.waitForEnd()
    }

    @Test func `a public server cannot redirect to local addresses unless that is allowed`() async throws {
        var configuration = TestConfiguration(modes: "[fetch]")
        configuration.rest = [
            "transfers: {allowHTTP: [203.0.113.7, 127.0.0.1, rebound.example, allowed.example, \"[::ffff:127.0.0.1]\"]}",
            "fetch: {allowPrivate: [\"allowed.example:8081\"]}",
        ]
        let service = try Service(configuration)
        try service.scratch.write("127.0.0.1 rebound.example allowed.example\n", to: "hosts")
        let log = service.file("requests")
        let script = """
            ip link set lo up; ip addr add 203.0.113.7/32 dev lo
            mount --bind '\(service.file("hosts"))' /etc/hosts
            python3 '\(Products.repository("Tests/Reference/two_servers.py"))' 203.0.113.7 127.0.0.1 '\(log)' > '\(service.file("port"))' &
            until grep -q ready '\(service.file("port"))'; do sleep 0.05; done
            """
        let process = try await service.start(unsharing: ["-n", "-m", "--propagation", "private"], after: script)
        defer { ProcessSearch.running(with: log).forEach { kill($0, SIGKILL) } }
        let requests = { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }
        let address = "http://203.0.113.7:8080"
        for (number, host) in ["127.0.0.1", "rebound.example", "[::ffff:127.0.0.1]"].enumerated() {
            let get = ["transfer", "get", "\(address)/to/\(host)", service.file("downloads/\(number)"), "--wait"]
            let run = try await service.command(get)
            #expect(run.exitCode == 1, "\(run)")
            #expect(run.errors.contains("fetch.allowPrivate"), "\(run)")
            try await service.run("fetch", "add", "f\(number)", "--url", "\(address)/to/\(host)", "--kind", "raw")
            try await service.command(["fetch", "run", "f\(number)"]).expectOneLine(["fetch.allowPrivate"])
        }
        #expect(requests() == "")
        // An allowed host, a host named by the user, and a redirect from a local server.
        let urls = [
            "\(address)/to/allowed.example", "http://rebound.example:8081/secret", "http://127.0.0.1:8081/back",
        ]
        for (number, url) in urls.enumerated() {
            let get = ["transfer", "get", url, service.file("downloads/good\(number)"), "--wait"]
            try await service.run(get)
            try await service.run("fetch", "add", "good\(number)", "--url", url, "--kind", "raw")
            let fetched: FetchRun = try await service.json("fetch", "run", "good\(number)")
            #expect(fetched.result == .newData, "\(fetched)")
        }
        #expect(requests().split(separator: "\n").count { $0 == "/secret" } == 6, "\(requests())")
        process.kill(SIGTERM)
        try await process.waitForEnd()
    }

    @Test func `a route is found among many, and a refused connection does not count as offline`() async throws {
        let service = try Service.forTransfers()
        let routes = """
            ip link set lo up; ip link add d0 type veth peer name d1; ip link set d0 up; ip link set d1 up
            for i in $(seq 1 60); do ip -6 addr add fd00:$i::1/64 dev d0 nodad; done
            ip -6 route add default via fd00:1::2 dev d0
            """
        let process = try await service.start(unsharing: ["-n"], after: routes)
        try await service.run("transfer", "get", "https://[fd00:1::1]:9/x", service.file("downloads/x"))
        let state = try await service.events().wait(forState: "a fault", within: 60) {
            $0.status.transfers?.first?.error != nil && $0.status.transfers?.first?.waitingFor != nil
        }
        let transfer = try #require(state.status.transfers?.first)
        #expect(transfer.waitingFor == .backoff, "\(transfer)")
        #expect(transfer.error?.contains("refused") == true, "\(transfer)")
        process.kill(SIGTERM)
        try await process.waitForEnd()
    }

    @Test func `on a terminal a progress bar is shown and removed at the end`() async throws {
        let service = try Service.forTransfers()
        try await service.start()
        let server = try TestWebServer()
        let file = TestWebFile(size: 600_000, seed: 1) { $0.rate = 600_000 }
        server.on("/f", file.script)
        let command = "\(Products.backgrounder) transfer get \(server.url("/f")) \(service.file("downloads/f")) --wait"
        let run = try await ProgramRun.of(
            Programs.script,
            ["-qec", command, "/dev/null"],
            environment: service.environment
        )
        #expect(run.exitCode == 0, "\(run)")
        #expect(run.text.contains("━"), "\(run)")
        #expect(run.text.contains("of 600.0 kB"), "\(run)")
        #expect(run.text.hasSuffix("\r\u{1B}[K"), "\(run)")
    }

    @Test func `transfers survive a stop and resume after the next start`() async throws {
        let service = try Service.forTransfers()
        try await service.start()
        let server = try TestWebServer()
        let file = TestWebFile(size: 600_000, seed: 1) { $0.stallsAfter = 200_000 }
        server.on("/f", file.script)
        let events = try service.events()
        try await service.run("transfer", "get", server.url("/f"), service.file("downloads/f"))
        try await events.wait(for: "bytes", within: 60) { received in
            try received.payloads("transfer").contains { payload in
                try JSON.decode(Transfer.self, from: Data(payload.utf8)).received > 0
            } ? true : nil
        }
        try await service.run("stop")
        file.behaviour.withLock { $0.stallsAfter = nil }
        try await service.start()
        let again = try service.events()
        try await again.wait(forState: "the end", within: 60) { $0.status.transfers == nil }
        #expect(FileManager.default.contents(atPath: service.file("downloads/f")).map(Array.init) == file.content())
        let starts = server.requests().map(\.rangeStart)
        try #require(starts.count == 2)
        #expect(starts[0] == 0)
        #expect(starts[1] > 0)
    }
}

extension Service {
    /// Creates a service without modes that may use http on this machine; nothing runs yet.
    static func forTransfers() throws -> Service {
        try Service(TestConfiguration(modes: "[]", rest: ["transfers: {allowHTTP: [127.0.0.1]}"]))
    }
}
