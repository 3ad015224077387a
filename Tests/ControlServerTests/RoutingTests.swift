import BackgrounderAPI
import ControlServer
import Foundation
import Logging
import TestSupport
import Testing

/// Paths, methods, errors of the modes, and input that is not HTTP.
@Suite struct RoutingTests {
    private struct Refusal: WireErrorConvertible {
        var wireError: WireError { WireError(.conflict, "the queue is empty", hint: "add something") }
    }

    private struct Surprise: Error {}

    private func makeServer(
        requestLimit: Duration = .seconds(10),
        log: any LogHandler = SwiftLogNoOpLogHandler()
    ) async throws -> ServerFixture {
        try await ServerFixture(requestLimit: requestLimit, log: log) { router in
            router.on(Routes.status) { _ in .sample }
            router.on(Routes.queue) { _ in [] }
            router.on(Routes.shuffleQueue) { _ in [] }
            router.on(Routes.clearQueue) { _ in Empty() }
            router.on(Routes.moveItem) { PlayerItem(id: try $0.id, position: $0.body.position, path: "/a") }
            router.on(Routes.track, query: ["last"]) { request in
                guard request.query("last") == nil else {
                    throw WireError(.invalid, "last=\(request.query("last") ?? "")")
                }
                return []
            }
            router.on(Routes.play) { _ in throw Refusal() }
            router.on(Routes.next) { _ in throw Surprise() }
        }
    }

    private func code(_ reply: HTTPReply) throws -> WireError.Code {
        try JSON.decode(WireError.self, from: Data(reply.body)).code
    }

    @Test(arguments: [
        "/", "/v1", "/v1/statu", "/v1/status/more", "/v2/status", "/v1/queue/1/2", "/..", "/%00", "/v1/status%20",
    ])
    func `an unknown path is answered with 404 and a wire error`(path: String) async throws {
        let server = try await makeServer()
        let reply = try await server.connect().send("GET", path)
        #expect(reply.status == 404)
        #expect(try code(reply) == .notFound)
        #expect(reply.headers["backgrounder-version"] == Backgrounder.version)
        try await server.stop()
    }

    @Test(arguments: [
        ("POST", "/v1/status", "GET"), ("DELETE", "/v1/status", "GET"), ("PUT", "/v1/queue", "GET, DELETE"),
        ("GET", "/v1/queue/1", "PATCH"), ("OPTIONS", "/v1/audio/play", "POST"), ("TRACE", "/v1/status", "GET"),
        ("PATCH", "/v1/queue/shuffle", "POST"), ("GET", "/v1/queue/shuffle", "POST"), ("PROPFIND", "/v1/status", "GET"),
        ("CONNECT", "/v1/status", "GET"), ("PURGE", "/v1/queue", "GET, DELETE"),
    ])
    func `a wrong method is answered with 405 and the allowed methods`(method: String, path: String, allow: String)
        async throws
    {
        let server = try await makeServer()
        let reply = try await server.connect().send(method, path)
        #expect(reply.status == 405)
        #expect(reply.headers["allow"] == allow)
        #expect(try code(reply) == .methodNotAllowed)
        try await server.stop()
    }

    @Test func `a response to HEAD has no body, so that the next response is read correctly`() async throws {
        let server = try await makeServer()
        let connection = try server.connect()
        #expect(try await connection.send("HEAD", "/v1/status").status == 405)
        #expect(try await connection.send("GET", "/v1/status").status == 200)
        try await server.stop()
    }

    @Test func `an id in a path must be a whole number, otherwise the item is not found`() async throws {
        let server = try await makeServer()
        let connection = try server.connect()
        let moved = try await connection.send("PATCH", "/v1/queue/12", body: #"{"position":3}"#)
        #expect(try JSON.decode(PlayerItem.self, from: Data(moved.body)) == PlayerItem(id: 12, position: 3, path: "/a"))
        for id in ["x", "1.5", "99999999999999999999", "%31x", "+"] {
            let reply = try await connection.send("PATCH", "/v1/queue/\(id)", body: #"{"position":3}"#)
            #expect(reply.status == 404)
        }
        try await server.stop()
    }

    @Test func `an empty reply is 204 without a body`() async throws {
        let server = try await makeServer()
        let connection = try server.connect()
        let reply = try await connection.send("DELETE", "/v1/queue")
        #expect(reply.status == 204)
        #expect(reply.body.isEmpty)
        #expect(reply.headers["content-type"] == nil)
        #expect(try await connection.send("GET", "/v1/queue").text == "[]")
        try await server.stop()
    }

    @Test func `an error of a mode becomes its wire error, and an unexpected one becomes 503 and is logged`()
        async throws
    {
        let log = LogLines()
        let server = try await makeServer(log: log)
        let connection = try server.connect()
        let refused = try await connection.send("POST", "/v1/audio/play")
        #expect(refused.status == 409)
        #expect(refused.text == #"{"code":"conflict","hint":"add something","message":"the queue is empty"}"#)
        let surprise = try await connection.send("POST", "/v1/audio/next")
        #expect(surprise.status == 503)
        #expect(try code(surprise) == .unavailable)
        #expect(log.lines.filter { $0.hasPrefix("error") } == ["error Cannot answer a request: Surprise()"])
        let query = try await connection.send("GET", "/v1/track?last=a%20b+c")
        #expect(query.status == 422)
        #expect(try JSON.decode(WireError.self, from: Data(query.body)).message == "last=a b+c")
        try await server.stop()
    }

    @Test(arguments: [
        "garbage\r\n\r\n", "GET\r\n\r\n", "GET /v1/status HTTP/9.9\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\r\n\r\n",
        "GET /v1/status HTTP/1.1\r\nbad header\r\n\r\n", "GET /v1/status HTTP/1.1\r\ncontent-length: x\r\n\r\n",
        "GET /v1/status HTTP/1.1\r\nx: " + String(repeating: "a", count: 20_000) + "\r\n\r\n",
        "POST /v1/audio/play HTTP/1.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    ])
    func `input that is not HTTP is answered with 400 and the end of the connection`(bytes: String) async throws {
        let server = try await makeServer()
        let socket = try StreamSocket(server.path)
        try await socket.send(bytes)
        let text = String(decoding: try await socket.receiveAll(), as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 400 "), "\(bytes.prefix(40).debugDescription): \(text.debugDescription)")
        #expect(try await server.connect().send("GET", "/v1/status").status == 200)
        try await server.stop()
    }

    @Test(arguments: [
        "", "G", "GET /v1/status HTTP/1.1\r\n", "PATCH /v1/queue/1 HTTP/1.1\r\ncontent-length: 20\r\n\r\n{\"posi",
    ])
    func `a connection without a complete request is closed after the limit`(bytes: String) async throws {
        let server = try await makeServer(requestLimit: .milliseconds(200))
        let begin = ContinuousClock.now
        let socket = try StreamSocket(server.path)
        if !bytes.isEmpty { try await socket.send(bytes) }
        _ = try await socket.receiveAll(within: 5)
        #expect(ContinuousClock.now - begin >= .milliseconds(190))
        try await server.stop()
    }

    @Test func `a trickle of bytes does not extend the limit`() async throws {
        let server = try await makeServer(requestLimit: .milliseconds(300))
        let socket = try StreamSocket(server.path)
        let closed = Task { try await socket.receiveAll(within: 5) }
        let trickle = try StreamSocket(server.path)
        // The server closes the connection while bytes keep arriving.
        await #expect(throws: (any Error).self) {
            for _ in 0..<1_000_000 { try await trickle.send("GET /v1/status HTTP/1.1\r\nx: a\r\n".utf8.prefix(1)) }
        }
        _ = try await closed.value
        try await server.stop()
    }

    @Test func `a persistent connection is closed after the limit, but not while it is used`() async throws {
        let server = try await makeServer(requestLimit: .milliseconds(600))
        let connection = try server.connect()
        let count = 20
        // Sends for three times the limit, on a thread of its own so that parallel tests do not wait for it.
        Thread.detachNewThread { [socket = connection.socket] in
            let request = Array("GET /v1/status HTTP/1.1\r\nhost: b\r\n\r\n".utf8)
            for _ in 0..<count {
                Thread.sleep(forTimeInterval: 0.1)
                Glibc.send(socket.descriptor, request, request.count, Int32(MSG_NOSIGNAL))
            }
        }
        for _ in 0..<count { #expect(try await connection.reply().status == 200) }
        #expect(try await connection.socket.receiveAll(within: 5).isEmpty)
        try await server.stop()
    }

    @Test func `pipelined requests are answered in order`() async throws {
        let server = try await makeServer()
        let connection = try server.connect()
        let request = "GET /v1/status HTTP/1.1\r\nhost: b\r\n\r\nGET /v1/nothing HTTP/1.1\r\nhost: b\r\n\r\n"
        try await connection.socket.send(String(repeating: request, count: 20))
        for _ in 0..<20 {
            #expect(try await connection.reply().status == 200)
            #expect(try await connection.reply().status == 404)
        }
        try await server.stop()
    }

    @Test func `a valid request is answered despite 200 idle connections and 1000 with garbage`() async throws {
        let server = try await makeServer()
        var idle: [StreamSocket] = []
        for round in 0..<200 {
            idle.append(try StreamSocket(server.path))
            // More connections than the accept queue holds would block this thread.
            if round.isMultiple(of: 50) { #expect(try await server.connect().send("GET", "/v1/status").status == 200) }
        }
        for round in 0..<1000 {
            let socket = try StreamSocket(server.path)
            try await socket.send(round.isMultiple(of: 2) ? "garbage\r\n\r\n" : "GET /v1/sta")
        }
        #expect(try await server.connect().send("GET", "/v1/status").status == 200)
        #expect(idle.count == 200)
        try await server.stop()
    }
}
