import BackgrounderAPI
import Foundation
import NIOPosix
import TestSupport
import Testing
import WebSupport

@testable import BackgroundFetch

/// Replies of good and of faulty web servers.
@Suite struct WebOriginTests {
    private let server: TestWebServer
    private let origin = WebOrigin(
        clients: WebClients(on: MultiThreadedEventLoopGroup.singleton),
        policy: { RedirectPolicy(plainHosts: ["127.0.0.1", "no-such-host.invalid"]) }
    )

    init() throws { server = try TestWebServer() }

    private func fetch(
        _ path: String,
        validators: FetchValidators? = nil,
        url: String? = nil
    ) async throws(FetchFailure) -> FetchReply {
        let address = url ?? server.url(path)
        let source = FetchDefinition(name: "a", url: address, kind: .raw)
        return try await origin.fetch(source, address, validators: validators)
    }

    private func failure(_ path: String, url: String? = nil) async -> FetchFailure? {
        do {
            _ = try await fetch(path, url: url)
            return nil
        } catch {
            return error
        }
    }

    @Test func `unencrypted http is fetched only from allowed hosts, also after a redirect`() async throws {
        let plain = "http://h.example/b"
        server.reply(to: "/a", 302, headers: ["Location": plain])
        let reason = "unencrypted http to h.example is not allowed; use https, or add h.example to transfers.allowHTTP"
        #expect(await failure("", url: plain)?.reason == reason)
        #expect(await failure("/a")?.reason == reason)
        #expect(server.requests().map(\.path) == ["/a"])
        // This machine needs no TLS.
        server.reply(to: "/b", body: "b")
        #expect(await failure("", url: server.url("/b").replacing("127.0.0.1", with: "localhost")) == nil)
    }

    @Test func `validators are returned byte for byte, and freshness is read`() async throws {
        server.reply(
            to: "/a",
            headers: [
                "ETag": #"W/"odd, tag é""#, "Last-Modified": "yesterday", "Cache-Control": "max-age=120",
                "Content-Type": "text/x",
            ],
            body: "hello"
        )
        let first = try await fetch("/a")
        guard case .content(let bytes, let type) = first.body else { return #expect(Bool(false)) }
        #expect(String(decoding: bytes, as: UTF8.self) == "hello")
        #expect(type == "text/x")
        #expect(first.status == 200)
        #expect(first.bytes == 5)
        #expect(first.freshness == 120)
        #expect(server.requests()[0].headers["if-none-match"] == nil)
        server.reply(to: "/a", 304)
        let second = try await fetch("/a", validators: first.validators)
        guard case .unchanged = second.body else { return #expect(Bool(false)) }
        let request = server.requests()[1]
        #expect(request.headers["if-none-match"] == #"W/"odd, tag é""#)
        #expect(request.headers["if-modified-since"] == "yesterday")
        #expect(request.headers["user-agent"]?.hasPrefix("Backgrounder/") == true)
    }

    @Test func `up to five redirects are followed, and validators are not sent to another address`() async throws {
        server.on("*") { request, connection in
            let number = Int(request.path.dropFirst(2)) ?? 0
            if number == 0 { return try connection.reply(200, [:], Array("end".utf8)) }
            try connection.reply(302, ["Location": "/r\(number - 1)"])
        }
        let validators = FetchValidators(url: server.url("/r5"), entityTag: "\"1\"", lastModified: nil)
        let reply = try await fetch("/r5", validators: validators)
        #expect(reply.validators?.url == server.url("/r0"))
        #expect(server.requests().map { $0.headers["if-none-match"] } == ["\"1\"", nil, nil, nil, nil, nil])
        #expect(await failure("/r6")?.reason == "the server redirects more than 5 times")
    }

    @Test func `credentials go only to the source's origin and are read for each fetch`() async throws {
        let scratch = try ScratchDirectory()
        let file = try scratch.write("bearer = one", to: "credentials")
        chmod(file, 0o600)
        let other = try TestWebServer()
        server.reply(to: "/a", 302, headers: ["Location": "/b"])
        server.reply(to: "/b", 302, headers: ["Location": other.url("/c")])
        other.reply(to: "/c", 302, headers: ["Location": server.url("/d")])
        server.reply(to: "/d", body: "x")
        let source = FetchDefinition(name: "a", url: server.url("/a"), kind: .raw, credentials: file)
        for token in ["one", "two"] {
            try scratch.write("bearer = \(token)", to: "credentials")
            _ = try await origin.fetch(source, server.url("/a"), validators: nil)
        }
        let sent = ["Bearer one", "Bearer one", nil, "Bearer two", "Bearer two", nil]
        #expect(server.requests().map { $0.headers["authorization"] } == sent)
        #expect(other.requests().map { $0.headers["authorization"] } == [nil, nil])
        chmod(file, 0o644)
        await #expect(throws: FetchFailure.self) {
            try await origin.fetch(source, server.url("/a"), validators: nil)
        }
    }

    @Test(arguments: [
        "file:///etc/passwd", "ftp://h/", "http+unix://%2Frun%2Fx/", "javascript:1", "http://", "//[::1/",
    ])
    func `a redirect to anything but a web address is refused`(location: String) async throws {
        server.reply(to: "/a", 302, headers: ["Location": location])
        let failure = try #require(await failure("/a"))
        #expect(failure.reason.contains("cannot follow the server's redirect: "), "\(failure)")
        #expect(server.requests().count == 1)
    }

    @Test(arguments: [
        (401, "denied access", FetchFailure.Kind.refused), (404, "nothing at this URL", .refused),
        (410, "gone for good", .gone), (429, "too many requests", .refused), (503, "the server failed", .refused),
        (418, "answered with status 418", .refused),
    ])
    func `each refusal has its own message`(status: Int, words: String, kind: FetchFailure.Kind) async throws {
        server.reply(to: "/a", status, headers: ["Retry-After": "77"])
        let failure = try #require(await failure("/a"))
        #expect(failure.reason.contains(words))
        #expect(failure.kind == kind)
        #expect(failure.status == status)
        #expect(failure.retryAfter == 77)
    }

    @Test func `gzip content is decompressed, even in several members`() async throws {
        let text = String(repeating: "abc", count: 1000)
        let packed = try await gzip("printf abc%.0s $(seq 600)") + gzip("printf abc%.0s $(seq 400)")
        server.on("/a") { _, connection in try connection.reply(200, ["Content-Encoding": "gzip"], packed) }
        let reply = try await fetch("/a")
        guard case .content(let bytes, _) = reply.body else { return #expect(Bool(false)) }
        #expect(String(decoding: bytes, as: UTF8.self) == text)
        #expect(reply.bytes == packed.count)
        #expect(server.requests()[0].headers["accept-encoding"] == "gzip")
    }

    @Test func `a reply that is too large, damaged or in an unrequested coding is refused`() async throws {
        let bomb = try await gzip("head -c 200000000 /dev/zero")
        let whole = try await gzip("seq 10000")
        let faults: [(String, [String: String], [UInt8], String)] = [
            ("/bomb", ["Content-Encoding": "gzip"], bomb, "decompressed reply is larger than 16 MiB"),
            ("/cut", ["Content-Encoding": "gzip"], Array(whole.dropLast(100)), "truncated"),
            ("/bad", ["Content-Encoding": "gzip"], Array("hello, this is no gzip".utf8), "damaged"),
            ("/brotli", ["Content-Encoding": "br"], whole, "content coding that was not requested: br"),
            ("/large", [:], [UInt8](repeating: 7, count: (4 << 20) + 1), "larger than 4 MiB"),
        ]
        for (path, headers, body, words) in faults {
            server.on(path) { _, connection in try connection.reply(200, headers, body) }
            #expect(await failure(path)?.reason.contains(words) == true, "\(path)")
        }
        // It announces no length, so only counting the bytes reveals the size.
        server.on("/endless") { _, connection in
            try connection.sendHead(200, ["Connection": "close"])
            while true { try connection.send([UInt8](repeating: 7, count: 1 << 16)) }
        }
        #expect(await failure("/endless")?.reason == "the reply is larger than 4 MiB")
    }

    @Test func `an unreachable or interrupted server is distinguished from a missing network`() async throws {
        let port = try freePort(SOCK_STREAM)
        let refused = await failure("", url: "http://127.0.0.1:\(port)/")
        #expect(refused?.reason == "cannot connect to 127.0.0.1:\(port): connection refused")
        #expect(refused?.kind == .refused)
        server.on("/cut") { _, connection in
            try connection.sendHead(200, ["Content-Length": "100"])
            try connection.send([1, 2, 3])
            connection.close()
        }
        #expect(await failure("/cut")?.kind == .refused)
        let unknown = await failure("", url: "http://no-such-host.invalid/")
        #expect(unknown?.kind == .offline)
        #expect(unknown?.reason.contains("cannot be resolved") == true)
    }

    @Test func `TLS errors are shown in words, without source file names`() {
        struct Handshake: Error, CustomStringConvertible {
            let description =
                "sslError([Error: 1 error:1:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER at /a/b.cc:1])"
        }
        let failure = FetchFailure(connecting: Handshake(), to: "h:1")
        #expect(failure.kind == .refused)
        #expect(failure.reason == "cannot establish TLS with h:1: wrong version number")
    }

    @Test func `an endlessly slow reply ends when its task is cancelled`() async throws {
        server.on("/slow") { _, connection in
            try connection.sendHead(200, ["Content-Length": "1000000"])
            try connection.send([UInt8](repeating: 7, count: 1_000_000), bytesPerSecond: 500)
        }
        let task = Task { await failure("/slow") }
        try await server.wait(forRequests: 1)
        task.cancel()
        let began = ContinuousClock.now
        #expect(await task.value?.kind == .cancelled)
        #expect(ContinuousClock.now - began < .seconds(2))
    }

    private func gzip(_ command: String) async throws -> [UInt8] {
        let run = try await ProgramRun.of("/bin/bash", ["-c", "\(command) | gzip -9"])
        return [UInt8](run.output)
    }
}
