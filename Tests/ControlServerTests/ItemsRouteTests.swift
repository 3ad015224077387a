import BackgrounderAPI
import ControlServer
import FoundationEssentials
import TestSupport
import Testing

@Suite struct ItemsRouteTests {
    private func items(_ count: Int) -> [PlayerItem] {
        (0..<count).map { PlayerItem(id: $0 + 1, position: $0, path: "/music/\($0).mp3", title: "\"\($0)\"") }
    }

    @Test(arguments: [0, 1, 499, 500, 501, 3000])
    func `any number of items is one document, identical to the output of the encoder`(count: Int) async throws {
        let server = try await ServerFixture { router in
            router.onItems(Routes.queue) { [items = items(count)] _ in items }
        }
        let connection = try server.connect()
        for _ in 0..<2 {
            let reply = try await connection.send("GET", "/v1/queue")
            #expect(reply.status == 200)
            #expect(reply.headers["content-type"] == "application/json")
            #expect(reply.text == (try JSON.line(items(count))))
        }
        try await server.stop()
    }

    @Test func `bodies are checked as on other routes, and a success has the status of the route`() async throws {
        let server = try await ServerFixture { router in
            router.onItems(Routes.enqueue) { request in
                guard request.body.items != ["/no"] else { throw WireError(.notFound, "/no: no such file") }
                return request.body.items.map { PlayerItem(id: 1, position: request.body.position ?? 0, path: $0) }
            }
        }
        let connection = try server.connect()
        #expect(try await connection.send("POST", "/v1/queue", body: #"{"items": ["/a"]}"#).status == 201)
        #expect(try await connection.send("POST", "/v1/queue", body: #"{"items": ["/no"]}"#).status == 404)
        #expect(try await connection.send("POST", "/v1/queue", body: #"{"items": "#).status == 400)
        #expect(try await connection.send("POST", "/v1/queue", body: #"{"items": [], "after": "all"}"#).status == 422)
        #expect(try await connection.send("GET", "/v1/queue").status == 405)
        try await server.stop()
    }
}
