import BackgrounderAPI
import ControlServer
import FoundationEssentials
import Synchronization
import TestSupport
import Testing

/// Request bodies that are accepted, and how the others are refused.
@Suite struct BodyTests {
    /// The bodies that reached the handlers.
    private final class Received: Sendable {
        let changes = Mutex<[LocationChange]>([])
        let paths = Mutex<[String]>([])
    }

    private let received = Received()

    private func makeServer() async throws -> ServerFixture {
        try await ServerFixture { [received] router in
            router.on(Routes.changeLocation) { request in
                received.changes.withLock { $0.append(request.body) }
                return LocationStatus(
                    updating: true,
                    source: "test",
                    connection: .off,
                    desiredAccuracy: .best,
                    target: 10,
                    distanceFilter: 0,
                    jitterGuard: true,
                    received: 0,
                    accepted: 0,
                    rejected: RejectionCounts(),
                    trackCount: 0
                )
            }
            router.on(Routes.enqueue) { request in
                received.paths.withLock { $0 += request.body.items }
                return request.body.items.enumerated().map { PlayerItem(id: $0, position: $0, path: $1) }
            }
            router.on(Routes.stop) { _ in ProcessReply(pid: 7) }
        }
    }

    private func error(_ reply: HTTPReply) throws -> WireError {
        try JSON.decode(WireError.self, from: Data(reply.body))
    }

    @Test func `a valid body is applied, including null where it has a meaning`() async throws {
        let server = try await makeServer()
        let connection = try server.connect()
        for body in [
            #"{"maximumAccuracy":null}"#, " {\n\"distanceFilter\" : 1e1 }\r\n", "{}",
            #"{"maximumAccuracy":12.5,"updating":true}"#,
        ] {
            let reply = try await connection.send("PATCH", "/v1/location", body: body)
            #expect(reply.status == 200)
            #expect(reply.headers["content-type"] == "application/json")
            #expect(reply.headers["backgrounder-version"] == Backgrounder.version)
        }
        #expect(
            received.changes.withLock { $0 } == [
                LocationChange(maximumAccuracy: .some(nil)), LocationChange(distanceFilter: 10), LocationChange(),
                LocationChange(updating: true, maximumAccuracy: 12.5),
            ]
        )
        #expect(try await connection.send("PATCH", "/v1/location").status == 200)
        #expect(try await connection.send("POST", "/v1/queue", body: #"{"items":["/\u00e9\n日本"]}"#).status == 201)
        #expect(received.paths.withLock { $0 } == ["/é\n日本"])
        try await server.stop()
    }

    @Test(arguments: [
        "x", "{", "}", "[1,]", #"{"updating":true,}"#, "{,}", "[", #"{"updating" true}"#, #"{"updating":True}"#,
        "{'updating':true}",
        #"{updating:true}"#, #"{"distanceFilter":01}"#, #"{"distanceFilter":+1}"#, #"{"distanceFilter":.5}"#,
        #"{"distanceFilter":1.}"#,
        #"{"distanceFilter":1e}"#, #"{"distanceFilter":NaN}"#, #"{"distanceFilter":Infinity}"#,
        #"{"distanceFilter":0x10}"#,
        #"{"distanceFilter":1-2}"#, "{\"a\":\"\u{1}\"}", #"{"a":"\x"}"#, #"{"a":"\u12"}"#, "{} {}", "{}x", "// no\n{}",
        "{/**/}",
        "\u{FEFF}{}", "nul", "\"open", " ", "\0", String(repeating: "[", count: 100_000),
    ])
    func `a body that is not JSON is refused with 400`(body: String) async throws {
        let server = try await makeServer()
        let reply = try await server.connect().send("PATCH", "/v1/location", body: body)
        #expect(reply.status == 400, "\(body.prefix(40))")
        #expect(try error(reply).code == .badRequest)
        #expect(received.changes.withLock { $0.isEmpty })
        try await server.stop()
    }

    @Test(arguments: [
        "[]", "null", "1", #""text""#, "true", #"{"unknown":1}"#, #"{"updating":true,"unknown":1}"#,
        #"{"Updating":true}"#,
        #"{"updating":"yes"}"#, #"{"updating":1}"#, #"{"updating":null}"#, #"{"desiredAccuracy":"perfect"}"#,
        #"{"desiredAccuracy":null}"#, #"{"distanceFilter":"10"}"#, #"{"distanceFilter":null}"#,
        #"{"distanceFilter":[1]}"#,
        #"{"distanceFilter":1e999}"#, #"{"maximumAccuracy":"none"}"#, #"{"maximumAccuracy":{}}"#,
    ])
    func `JSON of the wrong shape is refused with 422, and none of it is applied`(body: String) async throws {
        let server = try await makeServer()
        let reply = try await server.connect().send("PATCH", "/v1/location", body: body)
        #expect(reply.status == 422, "\(body)")
        let error = try error(reply)
        #expect(error.code == .invalid)
        #expect(error.hint != nil)
        #expect(!error.message.contains("\n"))
        #expect(received.changes.withLock { $0.isEmpty })
        try await server.stop()
    }

    @Test(arguments: [
        "{}", #"{"items":null}"#, #"{"items":"/a"}"#, #"{"items":[1]}"#, #"{"items":[null]}"#,
        #"{"items":["/a"],"position":1.5}"#,
        #"{"items":["/a"],"position":"1"}"#, #"{"items":["/a"],"position":null}"#, #"{"items":["/a"],"position":1e30}"#,
    ])
    func `a list with missing or mistyped values is refused with 422`(body: String) async throws {
        let server = try await makeServer()
        let reply = try await server.connect().send("POST", "/v1/queue", body: body)
        #expect(reply.status == 422, "\(body)")
        #expect(received.paths.withLock { $0.isEmpty })
        try await server.stop()
    }

    @Test func `an invalid word is reported with its key, without Swift names`() async throws {
        let server = try await makeServer()
        let connection = try server.connect()
        let position = try await connection.send("POST", "/v1/queue", body: #"{"items":["/a"],"after":"x"}"#)
        #expect(try error(position).message == #"after cannot be "x""#)
        try await server.stop()
    }

    @Test func `a route without a body accepts nothing or {} and refuses everything else`() async throws {
        let server = try await makeServer()
        let connection = try server.connect()
        #expect(try await connection.send("POST", "/v1/stop").status == 202)
        #expect(try await connection.send("POST", "/v1/stop", body: "{}").status == 202)
        #expect(try await connection.send("POST", "/v1/stop", body: #"{"now":true}"#).status == 422)
        #expect(try await connection.send("POST", "/v1/stop", body: "now").status == 400)
        try await server.stop()
    }

    @Test func `a body of 1 MiB is accepted, and one byte more is refused with 413, announced or not`() async throws {
        let server = try await makeServer()
        let frame = #"{"items":["/"]}"#
        let most = #"{"items":["/"# + String(repeating: "a", count: (1 << 20) - frame.utf8.count) + #""]}"#
        #expect(most.utf8.count == 1 << 20)
        #expect(try await server.connect().send("POST", "/v1/queue", body: most).status == 201)

        let announced = try server.connect()
        try await announced.socket.send(
            "POST /v1/queue HTTP/1.1\r\nhost: b\r\ncontent-length: \((1 << 20) + 1)\r\ncontent-type: application/json\r\n\r\n"
        )
        let refusal = try await announced.reply()
        #expect(refusal.status == 413)
        #expect(try error(refusal).code == .tooLarge)

        let chunked = try server.connect()
        try await chunked.socket.send(
            "POST /v1/queue HTTP/1.1\r\nhost: b\r\ntransfer-encoding: chunked\r\ncontent-type: application/json\r\n\r\n"
        )
        let chunk = "10000\r\n" + String(repeating: " ", count: 1 << 16) + "\r\n"
        for _ in 0..<16 { try await chunked.socket.send(chunk) }
        try await chunked.socket.send("1\r\n \r\n0\r\n\r\n")
        #expect(try await chunked.reply().status == 413)
        #expect(try await server.connect().send("POST", "/v1/stop").status == 202)
        try await server.stop()
    }

    @Test func `a body that arrives byte by byte is accepted`() async throws {
        let server = try await makeServer()
        let connection = try server.connect()
        for byte
            in "PATCH /v1/location HTTP/1.1\r\nhost: b\r\ncontent-length: 17\r\ncontent-type: application/json\r\n\r\n{\"updating\":true}"
            .utf8
        {
            try await connection.socket.send([byte])
        }
        #expect(try await connection.reply().status == 200)
        #expect(received.changes.withLock { $0 } == [LocationChange(updating: true)])
        try await server.stop()
    }
}
