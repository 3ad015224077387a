import BackgrounderAPI
import Foundation
import Synchronization
import TestSupport
import Testing
import WebSupport

@testable import BackgroundTransfers

/// A file gets its name only when one version of it is complete, even if the server is faulty or hostile.
@Suite struct HostileServerTests {
    private static let size = 300_000

    /// The behaviour of a server and the required outcome.
    struct Scene: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var behaviour: @Sendable (inout TestWebFile.Behaviour) -> Void
        var state = TransferState.done
        var restarts = 0...0
        /// A part of the error that is required.
        var says = ""
        /// Whether the server must not have to send received bytes again.
        var isThrifty = true
    }

    private static let scenes: [Scene] = [
        Scene(testDescription: "is well-behaved") { _ in },
        Scene(testDescription: "drops connections") { $0.cuts = 20_000...60_000 },
        Scene(testDescription: "drops connections, has only dates") {
            ($0.cuts, $0.validators) = (20_000...60_000, .date)
        },
        Scene(
            testDescription: "drops connections, has only weak tags",
            behaviour: { ($0.cuts, $0.mostCuts, $0.validators) = (20_000...60_000, 4, .weakTag) },
            restarts: 4...4,
            isThrifty: false
        ),
        Scene(
            testDescription: "drops connections, has only dates of just now",
            behaviour: { ($0.cuts, $0.mostCuts, $0.validators) = (20_000...60_000, 4, .recentDate) },
            restarts: 4...4,
            isThrifty: false
        ),
        Scene(
            testDescription: "drops connections, has no validators",
            behaviour: { ($0.cuts, $0.mostCuts, $0.validators) = (20_000...60_000, 4, .none) },
            restarts: 4...4,
            isThrifty: false
        ),
        Scene(
            testDescription: "drops connections and changes the file between attempts",
            behaviour: { ($0.cuts, $0.mostCuts, $0.changesEach) = (20_000...60_000, 8, 3) },
            restarts: 1...4,
            isThrifty: false
        ),
        Scene(
            testDescription: "changes the file and treats any If-Range as a match",
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
            testDescription: "ignores Range and always drops the connection",
            behaviour: { ($0.cuts, $0.ignoresRange) = (20_000...60_000, true) },
            state: .failed,
            restarts: 10...10,
            says: "restarted from the first byte 10 times",
            isThrifty: false
        ),
        Scene(
            testDescription: "sends the wrong offset of a part",
            behaviour: { ($0.cuts, $0.mostCuts, $0.rangeLie) = (20_000...60_000, 3, 7) },
            restarts: 1...3,
            isThrifty: false
        ),
        Scene(
            testDescription: "sends the wrong length of the file",
            behaviour: { ($0.cuts, $0.mostCuts, $0.totalLie) = (20_000...60_000, 3, 1000) },
            restarts: 1...3,
            isThrifty: false
        ),
        Scene(
            testDescription: "sends no length",
            behaviour: { $0.isChunked = true }
        ),
        Scene(
            testDescription: "sends no length and drops connections",
            behaviour: { ($0.cuts, $0.mostCuts, $0.isChunked) = (20_000...60_000, 3, true) }
        ),
        Scene(
            testDescription: "sends more bytes than the limit",
            behaviour: { $0.floods = 3_000_000 },
            state: .failed,
            says: "more bytes than the limit of 1000000",
            isThrifty: false
        ),
        Scene(
            testDescription: "sends a content coding that was not requested",
            behaviour: { $0.headers = ["Content-Encoding": "gzip"] },
            state: .failed,
            says: "encoded as gzip",
            isThrifty: false
        ),
    ]

    @Test(arguments: scenes) func `a download is one whole version of the file or nothing`(_ scene: Scene)
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

    @Test func `a download is a whole version even if the file changes with every request`() async throws {
        let rig = try TransferRig()
        let file = TestWebFile(size: Self.size, seed: 3) {
            ($0.cuts, $0.mostCuts, $0.changesEach) = (1000...90_000, 9, 1)
        }
        rig.server.on("/file.bin", file.script)
        let transfer = try await rig.end(try await rig.get("/file.bin"))
        #expect(transfer.state == .done)
        #expect(transfer.restarts > 5)
        #expect(try file.isVersion(#require(rig.file())))
    }

    @Test func `a stalled connection is dropped, and the received bytes are kept`() async throws {
        let rig = try TransferRig { ($0.stallTime, $0.stallBytes) = (.seconds(3), 1) }
        let file = TestWebFile(size: Self.size, seed: 5) { $0.stallsAfter = 100_000 }
        rig.server.on("/file.bin", file.script)
        let id = try await rig.get("/file.bin")
        let transfer = try await rig.end(id)
        #expect(transfer.state == .done)
        #expect(transfer.restarts == 0)
        #expect(rig.server.requests().map { $0.rangeStart } == [0, 100_000, 200_000])
        #expect(rig.file() == file.content())
    }

    @Test func `the stall time counts from the server's last byte`() async throws {
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
        #expect(patience > .seconds(2.8), "\(patience)")
        #expect(patience < .seconds(4.5), "\(patience)")
    }

    @Test(arguments: [(2, TransferState.done, 3), (Int.max, .failed, 4)])
    func `a file of unknown length with a wrong SHA-256 is requested again, at most three times`(
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
        #expect(transfer.state == state, "\(transfer)")
        #expect(rig.server.requests().count == requests, "\(transfer)")
        #expect(rig.file() == (state == .done ? content : nil))
        #expect(transfer.error?.contains("SHA-256") == (state == .done ? nil : true))
    }

    @Test func `a server that never answers is given up after the allowed attempts`() async throws {
        let rig = try TransferRig {
            ($0.stallTime, $0.attempts) = (.milliseconds(50), 3)
        }
        rig.server.on("/silent") { _, connection in connection.wait(milliseconds: 20_000) }
        let transfer = try await rig.end(try await rig.get("/silent"))
        #expect(transfer.state == .failed)
        #expect(transfer.attempts == 3)
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
    ]) func `each hop of a redirect is checked`(status: Int, location: String, state: TransferState, says: String)
        async throws
    {
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

    @Test func `bytes after the announced range are discarded`() async throws {
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
            // Announces 100 bytes, but sends all the others, and none of them is the file's.
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
        #expect(transfer.state == .done, "\(transfer)")
        #expect(transfer.restarts == 1, "\(transfer)")
        #expect(rig.file() == file)
    }

    @Test(arguments: [
        ("Location", "https://localhost:1/good", "the connection to localhost failed: "),
        ("Content-Length", "-5", "the reply from 127.0.0.1 is not valid HTTP: "),
    ]) func `an error names the host that it concerns`(header: String, value: String, says: String) async throws {
        let rig = try TransferRig()
        rig.server.on("/start") { _, connection in
            try connection.sendFrame("HTTP/1.1 302 Found\r\n\(header): \(value)\r\n\r\n")
        }
        let id = try await rig.get("/start")
        let transfer = try await rig.wait(id, for: "a fault") { $0.error != nil }
        #expect(transfer.error?.hasPrefix(says) == true, "\(transfer)")
        _ = try await rig.transfers.cancel(id)
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func `a server may name an address of this machine only if the host is allowed`(host: String)
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
            #expect(transfer.error?.contains(host) == true)
            #expect(transfer.error?.contains("fetch.allowPrivate") == true)
            // The restriction is stored, and does not apply to an address that the user named.
            #expect(rig.journal.record(id)?.detail.namer == .server)
            #expect(try await rig.end(try await rig.get("http://\(host):\(server.port)/f")).state == .done)
        }
    }

    @Test(arguments: [
        (404, TransferState.failed, 1), (403, .failed, 1), (410, .failed, 1), (204, .failed, 1), (304, .failed, 1),
        (206, .failed, 3), (416, .failed, 1), (408, .failed, 3), (425, .failed, 3), (429, .failed, 3),
        (500, .failed, 3),
        (503, .failed, 3),
    ]) func `permanent refusals end a transfer, and temporary ones are retried`(
        status: Int,
        state: TransferState,
        requests: Int
    )
        async throws
    {
        let rig = try TransferRig { $0.attempts = 3 }
        rig.server.reply(to: "/x", status, body: status == 204 || status == 304 ? "" : "no")
        let transfer = try await rig.end(try await rig.get("/x"))
        #expect(transfer.state == state, "\(transfer)")
        #expect(rig.server.requests().count == requests)
        #expect(rig.names == [])
    }

    @Test func `the next attempt waits for Retry-After`() async throws {
        let rig = try TransferRig()
        rig.server.reply(to: "/x", 503, headers: ["Retry-After": "3600"])
        let id = try await rig.get("/x")
        let transfer = try await rig.wait(id, for: "a wait") { $0.state == .waiting }
        #expect(transfer.waitingFor == .backoff)
        #expect(transfer.attempts == 1)
        let next = try #require(rig.journal.record(id)?.detail.next).timeIntervalSinceNow
        #expect(next > 3500)
        #expect(next <= 3600)
        rig.server.reply(to: "/x", body: "now")
        _ = try await rig.transfers.resume(id)
        #expect(try await rig.end(id).state == .done)
    }

    @Test func `a file with the wrong SHA-256 never gets its name`() async throws {
        let rig = try TransferRig()
        rig.server.reply(to: "/x", body: "abc")
        let good = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        let wrong = try await rig.end(try await rig.get("/x", sha256: String(good.reversed())))
        #expect(wrong.state == .failed)
        #expect(wrong.error?.contains(good) == true)
        #expect(rig.names == [])
        #expect(try await rig.end(try await rig.get("/x", sha256: good.uppercased())).state == .done)
    }

    @Test func `with a SHA-256, parts without a validator are joined, and discarded if they do not match`()
        async throws
    {
        let rig = try TransferRig()
        let file = TestWebFile(size: Self.size, seed: 9) {
            ($0.validators, $0.cuts, $0.mostCuts, $0.ignoresIfRange) = (.none, 50_000...90_000, 2, true)
        }
        rig.server.on("/file.bin", file.script)
        let digest = try await Self.digest(of: file.content(1), in: rig.scratch)
        // The version with this digest is served after the first dropped connection.
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
