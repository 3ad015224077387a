import BackgrounderAPI
import TestSupport
import Testing

@testable import ControlServer

/// Requests that a web page can make a browser send.
@Suite struct BrowserTests {
    private func makeServer() async throws -> ServerFixture {
        try await ServerFixture { router in
            router.on(Routes.status) { _ in .sample }
            router.on(Routes.stop) { _ in ProcessReply(pid: 1) }
            router.serveEvents(
                from: EventHub(clock: ContinuousClock()) { .sample() },
                attachments: AttachmentLog(),
                defaultInterval: { .seconds(1) }
            ) { _ in AsyncStream { $0.finish() } }
        }
    }

    @Test(arguments: [
        "evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example", "192.168.1.5",
        "[::2]", "[::1].evil.example", "evil.example:80:80", "user@localhost",
    ])
    func `a foreign host is refused`(host: String) async throws {
        let server = try await makeServer()
        let reply = try await server.connect().send("GET", "/v1/status", headers: ["host": host])
        #expect(reply.status == 403)
        #expect(try reply.json()["code"]?.string == "forbidden")
        try await server.stop()
    }

    @Test(arguments: ["localhost", "localhost:8080", "127.0.0.1:1", "[::1]", "[::1]:80", "backgrounder", ""])
    func `a host on this machine is served`(host: String) async throws {
        let server = try await makeServer()
        #expect(try await server.connect().send("GET", "/v1/status", headers: ["host": host]).status == 200)
        try await server.stop()
    }

    @Test(arguments: [
        ["origin": "http://evil.example"], ["origin": "null"], ["origin": "https://localhost"],
        ["origin": "http://localhost:99"], ["sec-fetch-site": "cross-site"], ["sec-fetch-site": "same-site"],
    ])
    func `a page of another site is refused on every path`(headers: [String: String]) async throws {
        let server = try await makeServer()
        for (method, target) in [
            ("GET", "/v1/status"), ("POST", "/v1/stop"), ("GET", "/v1/events"), ("GET", "/nothing"),
        ] {
            let headers = headers.merging(["host": "localhost"]) { $1 }
            let reply = try await server.connect().send(method, target, headers: headers)
            #expect(reply.status == 403, "\(method) \(target)")
        }
        try await server.stop()
    }

    @Test func `a page of the service itself is served`() async throws {
        let server = try await makeServer()
        let headers = ["host": "localhost:80", "origin": "http://localhost:80", "sec-fetch-site": "same-origin"]
        #expect(try await server.connect().send("POST", "/v1/stop", headers: headers).status == 202)
        try await server.stop()
    }

    @Test(arguments: [
        "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "application/jsonp",
    ])
    func `a body that is not declared as JSON is refused`(type: String) async throws {
        let server = try await makeServer()
        let reply = try await server.connect().send("POST", "/v1/stop", body: "{}", headers: ["content-type": type])
        #expect(reply.status == 415)
        #expect(try reply.json()["code"]?.string == "unsupportedMediaType")
        try await server.stop()
    }

    @Test(arguments: ["application/json", "Application/JSON; charset=utf-8"])
    func `a body that is declared as JSON is accepted`(type: String) async throws {
        let server = try await makeServer()
        let reply = try await server.connect().send("POST", "/v1/stop", body: "{}", headers: ["content-type": type])
        #expect(reply.status == 202)
        try await server.stop()
    }

    @Test(arguments: [
        ["sec-fetch-site": "none"], ["sec-fetch-mode": "no-cors"], ["referer": "http://localhost/"],
        ["origin": "http://localhost"], ["user-agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"],
    ])
    func `a browser can read events but cannot attach`(headers: [String: String]) async throws {
        let server = try await makeServer()
        let headers = headers.merging(["host": "localhost"]) { $1 }
        #expect(try await server.connect().send("GET", "/v1/events?attach=1", headers: headers).status == 403)
        let reader = try server.connect()
        try await reader.begin("GET", "/v1/events", headers: headers)
        #expect(try await reader.head().status == 200)
        try await server.stop()
    }
}
