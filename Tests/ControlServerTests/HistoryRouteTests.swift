import BackgrounderAPI
import ControlServer
import FoundationEssentials
import Synchronization
import SystemSupport
import TestSupport
import Testing

@Suite struct HistoryRouteTests {
    private struct DiskFailure: Error {}

    /// The selections that the store was asked for.
    private final class Asked: Sendable {
        let ranges = Mutex<[HistorySelection]>([])
    }

    private let asked = Asked()

    /// Serves `pages`, followed by an error if `fails`.
    private func makeServer(_ pages: [[Location]], fails: Bool = false) async throws -> ServerFixture {
        try await ServerFixture { [asked] router in
            router.serveHistory { selection in
                asked.ranges.withLock { $0.append(selection) }
                if selection.trip == 9 { throw WireError(.notFound, "there is no trip 9") }
                return AsyncThrowingStream { continuation in
                    for page in pages { continuation.yield(page) }
                    continuation.finish(throwing: fails ? DiskFailure() : nil)
                }
            }
        }
    }

    @Test func `all pages are sent as one document in the requested format`() async throws {
        let pages = [(0..<1000).map { Location.sample($0) }, (1000..<1500).map { Location.sample($0) }]
        let server = try await makeServer(pages)
        let connection = try server.connect()
        let json = try await connection.send("GET", "/v1/track/history")
        #expect(json.headers["content-type"] == "application/json")
        #expect(try JSON.decode([Location].self, from: Data(json.body)) == pages.flatMap(\.self))
        for format in TrackFormat.allCases {
            let reply = try await connection.send("GET", "/v1/track/history?format=\(format.rawValue)")
            #expect(reply.status == 200)
            #expect(reply.headers["content-type"] == format.mediaType)
            var encoder = format.makeEncoder()
            let whole = encoder.begin() + pages.flatMap(\.self).map { encoder.append($0) }.joined() + encoder.end()
            #expect(reply.text == whole)
        }
        try await server.stop()
    }

    @Test func `an empty history is an empty document`() async throws {
        let server = try await makeServer([])
        #expect(try await server.connect().send("GET", "/v1/track/history").text == "[]\n")
        try await server.stop()
    }

    @Test func `a range is read as ISO 8601, even with an unescaped plus in its offset`() async throws {
        let server = try await makeServer([])
        let connection = try server.connect()
        _ = try await connection.send(
            "GET",
            "/v1/track/history?since=2026-11-21T06:55:49Z&until=2026-11-21T08:55:49%2B01:00"
        )
        _ = try await connection.send("GET", "/v1/track/history?since=2026-11-21T07:55:49+01:00")
        let begin = ISO8601.date("2026-11-21T06:55:49Z")
        _ = try await connection.send("GET", "/v1/track/history?trip=3&since=2026-11-21T06:55:49Z")
        let ranges = asked.ranges.withLock { $0 }
        #expect(ranges.map(\.since) == [begin, begin, begin])
        #expect(ranges.map(\.until) == [begin?.addingTimeInterval(3600), nil, nil])
        #expect(ranges.map(\.trip) == [nil, nil, 3])
        try await server.stop()
    }

    @Test(arguments: [
        "since=yesterday", "since=", "until=1h", "format=xml", "format=", "format=JSON", "trip=", "trip=last",
        "trip=1.5",
    ])
    func `an invalid range, format or trip is refused with 422`(query: String) async throws {
        let server = try await makeServer([])
        #expect(try await server.connect().send("GET", "/v1/track/history?\(query)").status == 422)
        #expect(asked.ranges.withLock { $0.isEmpty })
        try await server.stop()
    }

    @Test func `an error before the first page is answered with its status`() async throws {
        let server = try await makeServer([[.sample(1)]])
        #expect(try await server.connect().send("GET", "/v1/track/history?trip=9").status == 404)
        try await server.stop()
    }

    @Test func `a store that fails midway breaks the connection instead of ending the document`()
        async throws
    {
        let server = try await makeServer([[.sample(1)]], fails: true)
        let connection = try server.connect()
        await #expect(throws: HTTPReply.Closed.self) { try await connection.send("GET", "/v1/track/history") }
        try await server.stop()
    }
}
