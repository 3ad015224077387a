import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import ControlServer

/// The attacks on the page's server that docs/security.md lists, and its ordinary work.
@Suite struct PageServerTests {
    private func status(
        _ page: PageFixture,
        _ method: String,
        _ target: String,
        _ body: String? = nil,
        token: String? = PageFixture.control,
        headers: [String: String] = [:]
    ) async throws -> Int {
        try await page.connect(token: token).send(method, target, body: body, headers: headers).status
    }

    @Test(arguments: [
        "evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost", "192.168.1.5", "[::2]:80",
        "user@127.0.0.1", "", "bus.local.", "127.0.0.1:80:80",
    ])
    func `a name that resolves to this machine but is not listed gets nothing`(host: String) async throws {
        let page = try await PageFixture()
        for target in ["/", "/page/main.js", "/v1/status", "/v1/events", "/nothing"] {
            #expect(try await status(page, "GET", target, headers: ["host": host]) == 421, "\(host) \(target)")
        }
        let headers = ["host": host]
        #expect(try await status(page, "POST", "/v1/web/session", #"{"code":"right"}"#, headers: headers) == 421)
        try await page.stop()
    }

    @Test(arguments: ["127.0.0.1", "127.0.0.1:1", "[::1]:80", "[::1]", "bus.local", "BUS.local:8443"])
    func `a listed name is served`(host: String) async throws {
        let page = try await PageFixture()
        #expect(try await status(page, "GET", "/v1/status", headers: ["host": host]) == 200)
        try await page.stop()
    }

    @Test(arguments: [
        ["origin": "http://evil.example"], ["origin": "null"], ["origin": "http://127.0.0.1"],
        ["origin": "http://127.0.0.1:1"], ["origin": "https://127.0.0.1:PORT"], ["sec-fetch-site": "cross-site"],
        ["sec-fetch-site": "same-site"], ["origin": "http://127.0.0.1:PORT.evil.example"],
    ])
    func `requests that another origin or port causes are refused on every path`(headers: [String: String])
        async throws
    {
        let page = try await PageFixture()
        let headers = headers.mapValues { $0.replacing("PORT", with: "\(page.port)") }
        for (method, target) in [("GET", "/"), ("GET", "/v1/status"), ("DELETE", "/v1/queue/1"), ("GET", "/v1/events")]
        {
            #expect(try await status(page, method, target, headers: headers) == 403, "\(method) \(target)")
        }
        let code = try await status(page, "POST", "/v1/web/session", #"{"code":"right"}"#, headers: headers)
        #expect(code == 403)
        try await page.stop()
    }

    @Test func `the page itself is served`() async throws {
        let page = try await PageFixture()
        let headers = ["origin": "http://127.0.0.1:\(page.port)", "sec-fetch-site": "same-origin"]
        #expect(try await status(page, "GET", "/v1/status", headers: headers) == 200)
        #expect(try await status(page, "DELETE", "/v1/queue/1", headers: headers) == 204)
        // A link that a person follows comes without a site.
        #expect(try await status(page, "GET", "/", token: nil, headers: ["sec-fetch-site": "none"]) == 200)
        try await page.stop()
    }

    @Test(arguments: [
        "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx", "",
    ])
    func `a body that a form could send is refused`(type: String) async throws {
        let page = try await PageFixture()
        let headers = ["content-type": type]
        #expect(try await status(page, "POST", "/v1/web/session", #"{"code":"right"}"#, headers: headers) == 415)
        try await page.stop()
    }

    @Test(
        arguments: [
            nil, "", "Bearer", "Bearer ", "Bearer x", "Basic YTpi", "Bearer \(PageFixture.control)x",
            "Bearer \(PageFixture.control), Bearer \(PageFixture.control)", PageFixture.control,
        ] as [String?]
    )
    func `without a valid token every route but the exchange of a code is refused`(field: String?) async throws {
        let page = try await PageFixture()
        for (method, target) in [
            ("GET", "/v1/status"), ("GET", "/v1/events"), ("GET", "/v1/nothing"), ("DELETE", "/v1/queue/1"),
            ("POST", "/v1/stop"), ("GET", "/v1/web/session"), ("POST", "/v1/web/session/"), ("GET", "/etc/passwd"),
        ] {
            let connection = try page.connect(token: nil)
            let reply = try await connection.send(method, target, headers: field.map { ["authorization": $0] } ?? [:])
            #expect(reply.status == 401, "\(method) \(target)")
            #expect(reply.headers["www-authenticate"] == "Bearer", "\(method) \(target)")
        }
        try await page.stop()
    }

    @Test func `a token in the address or in a cookie is no token`() async throws {
        let page = try await PageFixture()
        let token = PageFixture.control
        #expect(try await status(page, "GET", "/v1/status?token=\(token)&access_token=\(token)", token: nil) == 401)
        let cookie = ["cookie": "token=\(token); authorization=Bearer \(token)"]
        #expect(try await status(page, "GET", "/v1/status", token: nil, headers: cookie) == 401)
        try await page.stop()
    }

    @Test func `a code is exchanged, and a wrong one is refused each time`() async throws {
        let page = try await PageFixture()
        let connection = try page.connect(token: nil)
        for number in 0..<200 {
            let reply = try await connection.send("POST", "/v1/web/session", body: #"{"code":"\#(number)"}"#)
            #expect(reply.status == 401)
        }
        let reply = try await connection.send("POST", "/v1/web/session", body: #"{"code":"right"}"#)
        #expect(try JSON.decode(PageToken.self, from: Data(reply.body)).token == PageFixture.control)
        try await page.stop()
    }

    @Test func `a session has the rights of its scope, and none has those of the command line`() async throws {
        let page = try await PageFixture()
        #expect(try await status(page, "GET", "/v1/status", token: PageFixture.read) == 200)
        #expect(try await status(page, "DELETE", "/v1/queue/1", token: PageFixture.read) == 403)
        #expect(try await status(page, "DELETE", "/v1/queue/1") == 204)
        for (method, target, body) in [
            ("POST", "/v1/tasks", #"{"name":"a","command":["b"]}"#), ("POST", "/v1/stop", "{}"),
            ("GET", "/v1/web/sessions", nil),
        ] {
            let reply = try await page.connect().send(method, target, body: body)
            #expect(reply.status == 403, "\(target)")
            #expect(reply.text.contains("a page may not do this"), "\(target): \(reply.text)")
        }
        try await page.stop()
    }

    @Test(arguments: [
        ("/", 200), ("/page/page.css", 200), ("/v1/status", 200), ("/v1/nothing", 404), ("/v1/stop", 405),
    ])
    func `every reply confines the page and none sets a cookie or admits another origin`(
        target: String,
        status: Int
    ) async throws {
        let page = try await PageFixture(tiles: "https://tile.example:8080")
        let reply = try await page.connect().send("GET", target, headers: ["origin": "http://127.0.0.1:\(page.port)"])
        #expect(reply.status == status)
        let policy = reply.headers["content-security-policy"]?.components(separatedBy: "; ") ?? []
        #expect(
            policy == [
                "default-src 'none'", "script-src 'self'", "style-src 'self'",
                "img-src 'self' blob: https://tile.example:8080", "connect-src 'self'", "manifest-src 'self'",
                "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
                "require-trusted-types-for 'script'", "trusted-types leaflet",
            ]
        )
        let expected = [
            "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "x-frame-options": "DENY",
            "cross-origin-opener-policy": "same-origin", "cross-origin-resource-policy": "same-origin",
        ]
        for (name, value) in expected { #expect(reply.headers[name] == value) }
        #expect(reply.headers["set-cookie"] == nil)
        #expect(!reply.headers.keys.contains { $0.hasPrefix("access-control-") })
        try await page.stop()
    }

    @Test func `preflights of other origins are refused`() async throws {
        let page = try await PageFixture()
        let headers = ["origin": "http://evil.example", "access-control-request-method": "DELETE"]
        let reply = try await page.connect(token: nil).send("OPTIONS", "/v1/queue/1", headers: headers)
        #expect(reply.status == 403)
        #expect(!reply.headers.keys.contains { $0.hasPrefix("access-control-") })
        try await page.stop()
    }

    @Test func `tokens and codes are not logged`() async throws {
        let log = LogLines()
        let page = try await PageFixture(log: log)
        _ = try await status(page, "GET", "/v1/status")
        _ = try await status(page, "GET", "/v1/status?token=\(PageFixture.control)")
        _ = try await status(page, "POST", "/v1/web/session", #"{"code":"right"}"#, token: nil)
        _ = try await status(page, "POST", "/v1/web/session", #"{"code":"right""#, token: nil)
        try await page.stop()
        #expect(!log.lines.contains { $0.contains(PageFixture.control) || $0.contains("right") })
    }

    @Test func `slow and huge requests end at their limits`() async throws {
        let (hasty, page) = (try await PageFixture(requestLimit: .milliseconds(200)), try await PageFixture())
        for bytes in ["", "GET / HT", "POST /v1/web/session HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n\r\n{"]
        {
            let socket = try StreamSocket(port: hasty.port)
            try await socket.send(bytes)
            _ = try await socket.receiveAll(within: 5)
        }
        #expect(try await status(hasty, "GET", "/v1/status") == 200)
        try await hasty.stop()
        let large = #"{"code":""# + String(repeating: "x", count: 2 << 20) + "\"}"
        #expect(try await status(page, "POST", "/v1/web/session", large, token: nil) == 413)
        let header = try StreamSocket(port: page.port)
        try await header.send("GET / HTTP/1.1\r\nx: \(String(repeating: "a", count: 20_000))\r\n\r\n")
        #expect(String(decoding: try await header.receiveAll(), as: UTF8.self).hasPrefix("HTTP/1.1 400 "))
        #expect(try await status(page, "GET", "/v1/status") == 200)
        try await page.stop()
    }

    @Test func `one host cannot occupy all connections for long`() async throws {
        let page = try await PageFixture(requestLimit: .milliseconds(500))
        var idle: [StreamSocket] = []
        for _ in 0..<200 { idle.append(try StreamSocket(port: page.port)) }
        #expect(try await status(page, "GET", "/v1/status") == 200)
        #expect(idle.count == 200)
        try await page.stop()
    }

    @Test func `the end of a session closes its event stream and refuses its token`() async throws {
        let page = try await PageFixture()
        let (own, other) = (try page.connect(), try page.connect(token: PageFixture.read))
        for connection in [own, other] {
            try await connection.begin("GET", "/v1/events")
            #expect(try await connection.head().status == 200)
            #expect(try await connection.chunk() != nil)
        }
        page.sessions.end(1)
        page.server.close(usedBy: [1])
        #expect(try await own.socket.receiveAll(within: 5).isEmpty)
        #expect(try await status(page, "GET", "/v1/status") == 401)
        #expect(try await status(page, "GET", "/v1/status", token: PageFixture.read) == 200)
        other.socket.finishSending()
        try await page.stop()
    }

    @Test func `a session has four event streams, whose places do not count for others`() async throws {
        let page = try await PageFixture()
        var streams: [HTTPConnection] = []
        for _ in 0..<4 {
            let connection = try page.connect()
            try await connection.begin("GET", "/v1/events")
            #expect(try await connection.head().status == 200)
            streams.append(connection)
        }
        #expect(try await status(page, "GET", "/v1/events") == 503)
        let other = try page.connect(token: PageFixture.read)
        try await other.begin("GET", "/v1/events")
        #expect(try await other.head().status == 200)
        #expect(streams.count == 4)
        try await page.stop()
    }

    @Test func `a page may attach, and receives comments whether or not it does`() async throws {
        let attachments = AttachmentLog()
        var times = ReaderTimes()
        times.keepalive = .milliseconds(50)
        let page = try await PageFixture(attachments: attachments, readerTimes: times)
        for target in ["/v1/events", "/v1/events?attach=1"] {
            let connection = try page.connect(token: PageFixture.read)
            try await connection.begin("GET", target, headers: ["sec-fetch-site": "same-origin"])
            #expect(try await connection.head().status == 200)
            var text = ""
            while !text.contains(": keepalive\n\n") {
                text += String(decoding: try #require(try await connection.chunk()), as: UTF8.self)
            }
        }
        try await attachments.wait(for: .attached(1))
        try await page.stop()
        #expect(!attachments.entries.contains(.attached(2)))
    }
}
