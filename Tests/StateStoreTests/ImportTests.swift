import BackgrounderAPI
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StateStore

@Suite struct ImportTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    private func points(_ range: Range<Int>) -> [Location] { range.map { .sample($0) } }

    /// Imports points as one trip, `batch` points at a time. Stops after `cutAt` points if that is given.
    @discardableResult
    private func add(_ range: Range<Int>, to store: StateStore, batch: Int = 10, cutAt: Int? = nil) async throws
        -> ImportSession
    {
        var session = ImportSession()
        for begin in stride(from: range.lowerBound, to: range.upperBound, by: batch) {
            let end = min(begin + batch, range.upperBound)
            let record = TripRecord.sample(
                range.lowerBound..<end,
                newest: end - 1,
                inProgress: end < range.upperBound
            )
            session = try await store.importPoints(
                points(begin..<end),
                trips: [record],
                openPoints: end - range.lowerBound,
                into: session
            )
            if let cutAt, end >= cutAt { break }
        }
        return session
    }

    private func all(_ store: StateStore) async throws -> [Location] {
        try await store.history(since: nil, until: nil).reduce(into: []) { $0 += $1 }
    }

    @Test func `imported points appear in history and trips by time, but never in the rolling track`() async throws {
        let store = try fixture.open()
        try store.append(points(100..<110), state: .sample, durable: true)
        try await add(0..<35, to: store)
        try store.append(points(110..<112), state: .sample, durable: true)
        #expect(try await all(store) == points(0..<35) + points(100..<112))
        #expect(try store.newestLocations(1000) == points(100..<112))
        let trips = try await store.trips(since: nil, until: nil)
        #expect(trips.map(\.points) == [35])
        #expect(trips.map(\.inProgress) == [nil])
        #expect(try await store.points(ofTrip: 1) == points(0..<35))
        try store.close()
        let again = try fixture.open()
        #expect(try again.newestLocations(1000) == points(100..<112))
        try again.close()
    }

    @Test func `live points get positive ids even if an import came first`() async throws {
        let store = try fixture.open()
        try await add(0..<5, to: store)
        try store.append(points(5..<7), state: .sample, durable: true)
        #expect(try store.newestLocations(10) == points(5..<7))
        #expect(try await store.newestPoint() == 2)
        try store.close()
    }

    @Test func `importing the same points again adds nothing`() async throws {
        let store = try fixture.open()
        let first = try await add(0..<35, to: store)
        #expect(first.stored == 35)
        #expect(first.known == 0)
        #expect(first.trips == 1)
        let second = try await add(0..<35, to: store, batch: 7)
        #expect(second.stored == 0)
        #expect(second.known == 35)
        #expect(second.trips == 0)
        #expect(try await all(store) == points(0..<35))
        #expect(try await store.trips(since: nil, until: nil).map(\.points) == [35])
        try store.close()
    }

    @Test func `an interrupted import is completed by repeating it, even after another import`() async throws {
        let store = try fixture.open()
        try await add(0..<40, to: store, cutAt: 20)
        #expect(try await store.trips(since: nil, until: nil).map(\.points) == [20])
        try await add(500..<505, to: store)
        let session = try await add(0..<40, to: store)
        #expect(session.stored == 20)
        #expect(session.known == 20)
        #expect(session.trips == 1)
        #expect(try await store.trips(since: nil, until: nil).map(\.points) == [40, 5])
        #expect(try await store.points(ofTrip: 1) == points(0..<40))
        #expect(try await store.points(ofTrip: 2) == points(500..<505))
        try store.close()
    }

    @Test func `importing points that were tracked live adds no second trip`() async throws {
        let store = try fixture.open()
        let record = TripRecord.sample(0..<40, newest: 39)
        try store.append(points(0..<40), trips: [record], state: .sample, durable: true)
        let session = try await add(10..<30, to: store)
        #expect(session.stored == 0)
        #expect(session.known == 20)
        #expect(session.trips == 0)
        #expect(try await store.trips(since: nil, until: nil).map(\.points) == [40])
        try store.close()
    }

    @Test func `a mostly new trip includes the points that were already known`() async throws {
        let store = try fixture.open()
        try store.append(points(15..<18), state: .sample, durable: true)
        let session = try await add(0..<40, to: store)
        #expect(session.stored == 37)
        #expect(session.known == 3)
        #expect(session.trips == 1)
        #expect(try await store.points(ofTrip: 1) == points(0..<40))
        #expect(try await all(store) == points(0..<40))
        try store.close()
    }

    @Test func `points with the same time at different places are distinct`() async throws {
        let store = try fixture.open()
        let session = try await store.importPoints(
            [.sample(1, at: 50), .sample(2, at: 50), .sample(1, at: 50)],
            trips: [],
            openPoints: 0,
            into: .init()
        )
        #expect(session.stored == 2)
        #expect(session.known == 1)
        try store.close()
    }

    @Test func `a file with the same time for all points is imported, and only once`() async throws {
        let store = try fixture.open()
        let points = (0..<6000).map { Location.sample($0, at: 50) }
        try store.append([points[7]], state: .sample, durable: true)
        for known in [1, points.count] {
            var session = ImportSession()
            for begin in stride(from: 0, to: points.count, by: 1000) {
                let batch = Array(points[begin..<begin + 1000])
                session = try await store.importPoints(batch, trips: [], openPoints: 0, into: session)
            }
            #expect(session.known == known)
            #expect(session.stored == points.count - known)
        }
        #expect(try await all(store).count == points.count)
        try store.close()
    }

    @Test func `a failed batch leaves no points behind`() async throws {
        let store = try fixture.open()
        var bad = Location.sample(7)
        bad.mode = 9
        await #expect(throws: DatabaseError.self) {
            try await store.importPoints(points(0..<5) + [bad], trips: [], openPoints: 0, into: .init())
        }
        #expect(try await all(store).isEmpty)
        try store.close()
    }
}
