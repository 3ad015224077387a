import BackgroundFetch
import BackgrounderAPI
import Foundation
import Synchronization
import TestSupport
import Testing

/// What comes is one version of the file, whole, or nothing has its name; whatever the server does.
@Suite struct HostileServerTests {
    private static let size = 300_000

    /// A fault, and what must come of it.
    struct Scene: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var behaviour: @Sendable (inout TestWebFile.Behaviour) -> Void
        var state = TransferState.done
        var restarts = 0...0
        /// What the line on a failure must say.
        var says = ""
        /// Whether what came must not be sent again.
        var isThrifty = true
    }

    private static let scenes: [Scene] = [
        Scene(testDescription: "a good one") { _ in },
        Scene(testDescription: "cuts at random") { $0.cuts = 20_000...60_000 },
        Scene(testDescription: "cuts, and has only times") { ($0.cuts, $0.validators) = (20_000...60_000, .date) },
        Scene(
            testDescription: "cuts, and has only weak tags",
            behaviour: { ($0.cuts, $0.mostCuts, $0.validators) = (20_000...60_000, 4, .weakTag) },
            restarts: 4...4,
            isThrifty: false
        ),
        Scene(
            testDescription: "cuts, and has only times of just now",
            behaviour: { ($0.cuts, $0.mostCuts, $0.validators) = (20_000...60_000, 4, .recentDate) },
            restarts: 4...4,
            isThrifty: false
        ),
        Scene(
            testDescription: "cuts, and tells versions apart by nothing",
            behaviour: { ($0.cuts, $0.mostCuts, $0.validators) = (20_000...60_000, 4, .none) },
            restarts: 4...4,
            isThrifty: false
        ),
        Scene(
            testDescription: "cuts and changes the file between attempts",
            behaviour: { ($0.cuts, $0.mostCuts, $0.changesEach) = (20_000...60_000, 8, 3) },
            restarts: 1...4,
            isThrifty: false
        ),
        Scene(
            testDescription: "changes the file and takes any If-Range for a match",
            behaviour: {
                ($0.cuts, $0.mostCuts, $0.changesEach, $0.ignoresIfRange) = (20_000...60_000, 8, 3, true)
            },
            restarts: 1...4,
            isThrifty: false
        ),
        Scene(
            testDescription: "ignores Range",
            behaviour: { ($0.cuts, $0.mostCuts, $0.ignoresRange) = (20_000...60_000, 5, true) },
            restarts: 5...5,
            isThrifty: false
        ),
        Scene(
            testDescription: "ignores Range and always cuts",
            behaviour: { ($0.cuts, $0.ignoresRange) = (20_000...60_000, true) },
            state: .failed,
            restarts: 10...10,
            says: "restarted from the first byte 10 times",
            isThrifty: false
        ),
        Scene(
            testDescription: "lies about the place of a part",
            behaviour: { ($0.cuts, $0.mostCuts, $0.rangeLie) = (20_000...60_000, 3, 7) },
            restarts: 1...3,
            isThrifty: false
        ),
        Scene(
            testDescription: "lies about the length of the file",
            behaviour: { ($0.cuts, $0.mostCuts, $0.totalLie) = (20_000...60_000, 3, 1000) },
            restarts: 1...3,
            isThrifty: false
        ),
        Scene(
            testDescription: "sends no length",
            behaviour: { $0.isChunked = true }
        ),
        Scene(
            testDescription: "sends no length and cuts",
            behaviour: { ($0.cuts, $0.mostCuts, $0.isChunked) = (20_000...60_000, 3, true) }
        ),
        Scene(
            testDescription: "floods",
            behaviour: { $0.floods = 3_000_000 },
            state: .failed,
            says: "more bytes than the limit of 1000000",
            isThrifty: false
        ),
        Scene(
            testDescription: "encodes what nobody asked for",
            behaviour: { $0.headers = ["Content-Encoding": "gzip"] },
            state: .failed,
            says: "encoded as gzip",
            isThrifty: false
        ),
    ]

    @Test(arguments: scenes) func `What comes from a server is one version, whole, or nothing`(_ scene: Scene)
        async throws
    {
        let rig = try TransferRig()
        let file = TestWebFile(size: Self.size, seed: 7, scene.behaviour)
        rig.server.on("/file.bin", file.script)
        let id = try await rig.get("/file.bin", sizeMax: 1_000_000)
        let transfer = try await rig.end(id)
        #expect(transfer.state == scene.state, "\(transfer)")
        #expect(scene.restarts.contains(transfer.restarts), "\(transfer)")
        #expect(scene.says.isEmpty || transfer.error?.contains(scene.says) == true, "\(transfer)")
        if scene.state == .done {
            #expect(rig.names == ["file.bin"])
            #expect(try file.isVersion(#require(rig.file())))
        } else {
            #expect(rig.names == [])
        }
        if scene.isThrifty {
            #expect(Double(file.sent) <= 1.03 * Double(Self.size) + 32_768 * Double(file.broken))
        }
    }

    @Test func `A server that changes the file for every request gives whole versions when it gives any`() async throws
    {
        let rig = try TransferRig()
        let file = TestWebFile(size: Self.size, seed: 3) {
            ($0.cuts, $0.mostCuts, $0.changesEach) = (1000...90_000, 9, 1)
        }
        rig.server.on("/file.bin", file.script)
        let transfer = try await rig.end(try await rig.get("/file.bin"))
        #expect(transfer.state == .done && transfer.restarts > 5)
        #expect(try file.isVersion(#require(rig.file())))
    }

    @Test func `A stalled connection is given up, and what came is kept`() async throws {
        let rig = try TransferRig { ($0.stallTime, $0.stallBytes) = (.seconds(3), 1) }
        let file = TestWebFile(size: Self.size, seed: 5) { $0.stallsAfter = 100_000 }
        rig.server.on("/file.bin", file.script)
        let id = try await rig.get("/file.bin")
        let transfer = try await rig.end(id)
        #expect(transfer.state == .done && transfer.restarts == 0)
        #expect(rig.server.requests().map { $0.rangeStart } == [0, 100_000, 200_000])
        #expect(rig.file() == file.content())
    }

    @Test func `A server that falls silent is given up by the time of its last byte`() async throws {
        let rig = try TransferRig { ($0.stallTime, $0.attempts) = (.seconds(3), 1) }
        let silent = Mutex(ContinuousClock.now)
        rig.server.on("/x") { _, connection in
            try connection.sendHead(200, ["Content-Length": "1000000"])
            connection.wait(milliseconds: 700)
            try connection.send([UInt8](repeating: 7, count: 200_000))
            silent.withLock { $0 = .now }
            connection.wait(milliseconds: 20_000)
        }
        let id = try await rig.get("/x")
        try await rig.wait(id, for: "a stall") { $0.error?.contains("stalled") == true }
        let patience = silent.withLock { ContinuousClock.now - $0 }
        #expect(patience > .seconds(2.8) && patience < .seconds(4.5), "\(patience)")
    }

    @Test(arguments: [(2, TransferState.done, 3), (Int.max, .failed, 4)])
    func `A file without a length that ends too early for its digest is asked for again, but not for ever`(
        cuts: Int,
        state: TransferState,
        requests: Int
    ) async throws {
        let rig = try TransferRig()
        let content = TestWebFile(size: 100_000, seed: 3).content()
        let count = Mutex(0)
        rig.server.on("/x") { _, connection in
            let number = count.withLock { count in
                count += 1
                return count
            }
            try connection.sendHead(200, ["Connection": "close"])
            try connection.send(Array(number > cuts ? content[...] : content[..<40_000]))
            connection.close()
        }
        let digest = try await Self.digest(of: content, in: rig.scratch)
        let transfer = try await rig.end(try await rig.get("/x", sha256: digest))
        #expect(transfer.state == state && rig.server.requests().count == requests, "\(transfer)")
        #expect(rig.file() == (state == .done ? content : nil))
        #expect(transfer.error?.contains("SHA-256") == (state == .done ? nil : true))
    }

    @Test func `A server that never answers is given up, attempt by attempt`() async throws {
        let rig = try TransferRig {
            ($0.stallTime, $0.attempts) = (.milliseconds(50), 3)
        }
        rig.server.on("/silent") { _, connection in connection.wait(milliseconds: 20_000) }
        let transfer = try await rig.end(try await rig.get("/silent"))
        #expect(transfer.state == .failed && transfer.attempts == 3)
        #expect(transfer.error?.contains("no new data in 3 attempts") == true)
        #expect(rig.names == [])
    }

    @Test(arguments: [
        (301, "/good", TransferState.done, ""), (302, "good", .done, ""), (307, "//127.0.0.1:PORT/good", .done, ""),
        (302, "/loop", .failed, "more than 5 times"), (302, "file:///etc/passwd", .failed, "file"),
        (302, "ftp://127.0.0.1/x", .failed, "ftp"), (302, "http+unix://%2Frun%2Fx/", .failed, "http+unix"),
        (302, "http://ip6-localhost:PORT/good", .failed, "not allowed"),
        (302, "http://169.254.169.254/", .failed, "not allowed"),
        (302, "http://[::1]:PORT/good", .failed, "not allowed"), (302, "", .failed, "redirects"),
        (303, "http://127.0.0.1:99999/", .failed, "port"),
    ]) func `Each hop is looked at`(status: Int, location: String, state: TransferState, says: String) async throws {
        let rig = try TransferRig()
        let target = location.replacing("PORT", with: "\(rig.server.port)")
        rig.server.reply(to: "/start", status, headers: target.isEmpty ? [:] : ["Location": target])
        rig.server.reply(to: "/loop", 302, headers: ["Location": "/loop"])
        rig.server.reply(to: "/good", body: "good")
        let transfer = try await rig.end(try await rig.get("/start"))
        #expect(transfer.state == state, "\(transfer)")
        #expect(says.isEmpty || transfer.error?.contains(says) == true, "\(transfer)")
        #expect(rig.names == (state == .done ? ["file.bin"] : []))
    }

    @Test func `What comes behind the part that was announced is not taken`() async throws {
        let rig = try TransferRig()
        let file = [UInt8](repeating: 7, count: 200_000)
        let requests = Mutex(0)
        rig.server.on("/file.bin") { request, connection in
            let number = requests.withLock { count in
                count += 1
                return count
            }
            guard number == 2 else {
                try connection.sendHead(200, ["Content-Length": "200000", "ETag": "\"a\""])
                try connection.send(number == 1 ? file[..<100_000] : file[...])
                return connection.close()
            }
            // A hundred bytes are said to come, and all the others do, which are none of the file's.
            let start = request.rangeStart
            try connection.sendHead(
                206,
                [
                    "Transfer-Encoding": "chunked", "ETag": "\"a\"",
                    "Content-Range": "bytes \(start)-\(start + 99)/200000",
                ]
            )
            let count = 200_000 - start
            try connection.sendFrame(String(count, radix: 16) + "\r\n")
            try connection.send([UInt8](repeating: 8, count: count))
            try connection.sendFrame("\r\n0\r\n\r\n")
        }
        let transfer = try await rig.end(try await rig.get("/file.bin"))
        #expect(transfer.state == .done && transfer.restarts == 1, "\(transfer)")
        #expect(rig.file() == file)
    }

    @Test(arguments: [
        ("Location", "https://localhost:1/good", "the connection to localhost failed: "),
        ("Content-Length", "-5", "the reply from 127.0.0.1 is not valid HTTP: "),
    ]) func `The fault names whom it is about`(header: String, value: String, says: String) async throws {
        let rig = try TransferRig()
        rig.server.on("/start") { _, connection in
            try connection.sendFrame("HTTP/1.1 302 Found\r\n\(header): \(value)\r\n\r\n")
        }
        let id = try await rig.get("/start")
        let transfer = try await rig.wait(id, for: "a fault") { $0.error != nil }
        #expect(transfer.error?.hasPrefix(says) == true, "\(transfer)")
        _ = try await rig.transfers.cancel(id)
    }

    @Test func `Credentials go to their own server and nowhere else, and are not shown`() async throws {
        let rig = try TransferRig()
        let other = try TestWebServer()
        rig.server.reply(to: "/a", 302, headers: ["Location": "/b"])
        rig.server.reply(to: "/b", 302, headers: ["Location": other.url("/c")])
        // Once it was elsewhere, nobody knows whose wish it is.
        other.reply(to: "/c", 302, headers: ["Location": rig.server.url("/d")])
        rig.server.reply(to: "/d", body: "x")
        let file = try rig.scratch.write("user = me\npassword = secret\nheader = X-Key: secret\n", to: "credentials")
        chmod(file, 0o600)
        let id = try await rig.get("/a", credentials: file)
        let transfer = try await rig.end(id)
        #expect(transfer.state == .done, "\(transfer)")
        let basic = "Basic bWU6c2VjcmV0"
        #expect(rig.server.requests().map { $0.headers["authorization"] } == [basic, basic, nil])
        #expect(rig.server.requests().map { $0.headers["x-key"] } == ["secret", "secret", nil])
        #expect(other.requests().map { $0.headers["authorization"] } == [nil])
        #expect(!"\(try #require(rig.journal.record(id)))".contains("secret"))
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func `A server that names an address of this machine is not believed, unless it is allowed`(host: String)
        async throws
    {
        for allowed in [[], [host], ["\(host):PORT"]] {
            let server = try TestWebServer()
            server.reply(to: "/f", body: "x")
            let rig = try TransferRig(localHosts: Set(allowed.map { $0.replacing("PORT", with: "\(server.port)") }))
            let id = try await rig.get("http://\(host):\(server.port)/f", namedBy: .server)
            let transfer = try await rig.end(id)
            #expect(transfer.state == (allowed.isEmpty ? .failed : .done), "\(transfer)")
            #expect(server.requests().count == (allowed.isEmpty ? 0 : 1))
            guard allowed.isEmpty else { continue }
            #expect(transfer.error?.contains(host) == true && transfer.error?.contains("fetch.allowPrivate") == true)
            // Also after a restart, while one that the user named may be there.
            #expect(rig.journal.record(id)?.detail.namer == .server)
            #expect(try await rig.end(try await rig.get("http://\(host):\(server.port)/f")).state == .done)
        }
    }

    @Test func `A file of credentials is read for each attempt, and a wrong one is no end`() async throws {
        let rig = try TransferRig { $0.firstRetry = .seconds(1000) }
        rig.server.reply(to: "/a", body: "x")
        let file = try rig.scratch.write("bearer = first", to: "credentials")
        await #expect(throws: TransferError.credentials(.open(file, mode: 0o644))) {
            chmod(file, 0o644)
            _ = try await rig.get("/a", credentials: file)
        }
        chmod(file, 0o600)
        rig.server.reply(to: "/a", 503)
        let id = try await rig.get("/a", credentials: file)
        try await rig.wait(id, for: "a refusal") { $0.state == .waiting }
        try rig.scratch.write("bearer second", to: "credentials")
        _ = try await rig.transfers.resume(id)
        let waiting = try await rig.wait(id, for: "a fault") {
            $0.state == .waiting && $0.error?.contains(file) == true
        }
        #expect(waiting.error?.contains("\(file):1: ") == true && waiting.error?.contains("second") == false)
        try rig.scratch.write("bearer = second", to: "credentials")
        rig.server.reply(to: "/a", body: "x")
        _ = try await rig.transfers.resume(id)
        #expect(try await rig.end(id).state == .done)
        #expect(rig.server.requests().map { $0.headers["authorization"] } == ["Bearer first", "Bearer second"])
    }

    @Test(arguments: [
        (404, TransferState.failed, 1), (403, .failed, 1), (410, .failed, 1), (204, .failed, 1), (304, .failed, 1),
        (206, .failed, 3), (416, .failed, 1), (408, .failed, 3), (425, .failed, 3), (429, .failed, 3),
        (500, .failed, 3),
        (503, .failed, 3),
    ]) func `Refusals that stay end it, others are asked again`(status: Int, state: TransferState, requests: Int)
        async throws
    {
        let rig = try TransferRig { $0.attempts = 3 }
        rig.server.reply(to: "/x", status, body: status == 204 || status == 304 ? "" : "no")
        let transfer = try await rig.end(try await rig.get("/x"))
        #expect(transfer.state == state, "\(transfer)")
        #expect(rig.server.requests().count == requests && rig.names == [])
    }

    @Test func `Retry-After is waited for`() async throws {
        let rig = try TransferRig()
        rig.server.reply(to: "/x", 503, headers: ["Retry-After": "3600"])
        let id = try await rig.get("/x")
        let transfer = try await rig.wait(id, for: "a wait") { $0.state == .waiting }
        #expect(transfer.waitingFor == .backoff && transfer.attempts == 1)
        let next = try #require(rig.journal.record(id)?.detail.next).timeIntervalSinceNow
        #expect(next > 3500 && next <= 3600)
        rig.server.reply(to: "/x", body: "now")
        _ = try await rig.transfers.resume(id)
        #expect(try await rig.end(id).state == .done)
    }

    @Test func `A file with another SHA-256 never has the name`() async throws {
        let rig = try TransferRig()
        rig.server.reply(to: "/x", body: "abc")
        let good = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        let wrong = try await rig.end(try await rig.get("/x", sha256: String(good.reversed())))
        #expect(wrong.state == .failed && wrong.error?.contains(good) == true && rig.names == [])
        #expect(try await rig.end(try await rig.get("/x", sha256: good.uppercased())).state == .done)
    }

    @Test func `With a SHA-256, parts without a validator are joined, and thrown away where they do not fit`()
        async throws
    {
        let rig = try TransferRig()
        let file = TestWebFile(size: Self.size, seed: 9) {
            ($0.validators, $0.cuts, $0.mostCuts, $0.ignoresIfRange) = (.none, 50_000...90_000, 2, true)
        }
        rig.server.on("/file.bin", file.script)
        let digest = try await Self.digest(of: file.content(1), in: rig.scratch)
        // The version that the digest is of comes after the first cut.
        file.behaviour.withLock { $0.changesEach = 1 }
        let id = try await rig.get("/file.bin", sha256: digest)
        try await rig.server.wait(forRequests: 2)
        file.behaviour.withLock { $0.changesEach = nil }
        let transfer = try await rig.end(id)
        #expect(transfer.state == .done || transfer.state == .failed, "\(transfer)")
        if transfer.state == .done { #expect(rig.file() == file.content(1)) } else { #expect(rig.names == []) }
    }

    private static func digest(of bytes: [UInt8], in scratch: ScratchDirectory) async throws -> String {
        let path = try scratch.write(bytes, to: "digest")
        let output = try await Tool.run("sha256sum", path)
        return String(decoding: output.prefix(64), as: UTF8.self)
    }
}
