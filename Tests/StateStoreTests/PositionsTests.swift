import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import StateStore

/// Reading only the positions of the history.
@Suite struct PositionsTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    private struct Found: Equatable {
        var latitudes: [Double] = []
        /// The indices of points that start a segment.
        var starts: [Int] = []
    }

    private func found(
        _ store: StateStore,
        trip: Int? = nil,
        since: Date? = nil,
        until: Date? = nil
    ) async throws -> Found? {
        try await store.positions(ofTrip: trip, since: since, until: until, into: Found()) { found, position in
            if position.startsSegment { found.starts.append(found.latitudes.count) }
            found.latitudes.append(position.latitude)
        }
    }

    private func points(_ range: Range<Int>) -> [Location] { range.map { .sample($0) } }

    @Test func `all points are passed on in their order, also those that were just stored`() async throws {
        let store = try fixture.open()
        #expect(try await found(store) == Found())
        var points = points(0..<250)
        points[100].segmentStart = true
        try store.append(Array(points[..<200]), state: .sample, durable: true)
        for point in points[200...] { try store.append([point], state: .sample, durable: false) }
        #expect(try await found(store) == Found(latitudes: points.map(\.latitude), starts: [0, 100]))
        try store.close()
    }

    @Test func `a range includes its start and excludes its end, and begins a segment`() async throws {
        let store = try fixture.open()
        try store.append(points(0..<100), state: .sample, durable: true)
        let (since, until) = (Location.sample(10).timestamp, Location.sample(20).timestamp)
        let expected = Found(latitudes: points(10..<20).map(\.latitude), starts: [0])
        #expect(try await found(store, since: since, until: until) == expected)
        #expect(try await found(store, since: since)?.latitudes.count == 90)
        #expect(try await found(store, until: until)?.latitudes.count == 20)
        #expect(try await found(store, since: until, until: since) == Found())
        try store.close()
    }

    @Test func `a trip has its own points, and an unknown one is nil`() async throws {
        let store = try fixture.open()
        try store.append(points(0..<5), state: .sample, durable: true)
        try store.append(points(5..<11), trips: [.sample(5..<9, newest: 10)], state: .sample, durable: true)
        let expected = Found(latitudes: points(5..<9).map(\.latitude), starts: [0])
        #expect(try await found(store, trip: 1) == expected)
        #expect(try await found(store, trip: 2) == nil)
        let since = Location.sample(7).timestamp
        #expect(try await found(store, trip: 1, since: since)?.latitudes == points(7..<9).map(\.latitude))
        try store.close()
    }

    @Test func `deleted points leave a gap between two segments`() async throws {
        let store = try fixture.open()
        try store.append(points(0..<30), state: .sample, durable: true)
        let (since, until) = (Location.sample(10).timestamp, Location.sample(15).timestamp)
        _ = try await store.deletePoints(
            since: since,
            until: until,
            ofTrip: nil,
            upTo: 30,
            isTrial: false,
            findTrips: { _ in [] }
        )
        let kept = (points(0..<10) + points(15..<30)).map(\.latitude)
        #expect(try await found(store) == Found(latitudes: kept, starts: [0, 10]))
        try store.close()
    }

    @Test func `a damaged page is reported`() async throws {
        var store = try fixture.open()
        try store.append(points(0..<5000), state: .sample, durable: true)
        try store.close()
        let query = "SELECT pageno FROM dbstat WHERE name = 'location' AND pagetype = 'leaf' LIMIT 1 OFFSET 10"
        let text = String(decoding: try await Tool.run("sqlite3", fixture.path, query), as: UTF8.self)
        let page = try #require(Int(text.dropLast()))
        var bytes = try fixture.bytes()
        for offset in (page - 1) * 4096..<page * 4096 { bytes[offset] = 0xFF }
        try bytes.write(to: URL(fileURLWithPath: fixture.path))
        store = try fixture.open()
        let failure = await #expect(throws: StorageFailure.self) { try await found(store) }
        #expect(failure?.kind == .damaged)
        #expect(store.problems.map(\.kind) == [.damaged])
        try store.close()
    }
}
