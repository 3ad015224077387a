import BackgrounderAPI
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StateStore

@Suite struct TripTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    private func points(_ range: Range<Int>) -> [Location] { range.map { .sample($0) } }

    @Test func `a trip is restored as stored, with its own points`() async throws {
        let store = try fixture.open()
        try store.append(points(0..<5), state: .sample, durable: true)
        let record = TripRecord.sample(5..<9, newest: 10)
        try store.append(points(5..<11), trips: [record], state: .sample, durable: true)
        try store.close()
        let again = try fixture.open()
        var expected = record.trip
        expected.id = 1
        #expect(try await again.trips(since: nil, until: nil) == [expected])
        #expect(try await again.points(ofTrip: 1) == points(5..<9))
        #expect(try await again.points(ofTrip: 2) == nil)
        let (since, until) = (Location.sample(6).timestamp, Location.sample(8).timestamp)
        #expect(try await again.points(ofTrip: 1, since: since, until: until) == points(6..<8))
        try again.close()
    }

    @Test func `a trip in progress keeps its id, and ids increase by one`() async throws {
        let store = try fixture.open()
        for end in 2...20 {
            let record = TripRecord.sample(0..<end, newest: end - 1, inProgress: true)
            try store.append(
                points(end == 2 ? 0..<2 : end - 1..<end),
                trips: [record],
                state: .sample,
                durable: true
            )
        }
        let last = TripRecord.sample(19..<25, newest: 24, inProgress: true)
        let first = TripRecord.sample(0..<20, newest: 24)
        try store.append(points(20..<25), trips: [first, last], state: .sample, durable: true)
        let trips = try await store.trips(since: nil, until: nil)
        #expect(trips.map(\.id) == [1, 2])
        #expect(trips.map(\.points) == [20, 6])
        #expect(trips.map(\.inProgress) == [nil, true])
        #expect(try await store.points(ofTrip: 2) == points(19..<25))
        try store.close()
    }

    @Test func `a trip without a point for 10 minutes is no longer in progress`() async throws {
        let store = try fixture.open()
        let record = TripRecord.sample(0..<5, newest: 4, inProgress: true)
        try store.append(points(0..<5), trips: [record], state: .sample, durable: true)
        #expect(try await store.trips(since: nil, until: nil).map(\.inProgress) == [true])
        try await store.database.write { try $0.execute(sql: "UPDATE trip SET recorded = recorded - 601000") }
        #expect(try await store.trips(since: nil, until: nil).map(\.inProgress) == [nil])
        try store.close()
    }

    @Test func `a range returns the trips that overlap it`() async throws {
        let store = try fixture.open()
        let records = [0..<10, 20..<30].map { TripRecord.sample($0, newest: 39) }
        try store.append(points(0..<40), trips: records, state: .sample, durable: true)
        func found(_ since: Int?, _ until: Int?) async throws -> [Int] {
            let (since, until) = (
                since.map { Location.sample($0).timestamp }, until.map { Location.sample($0).timestamp }
            )
            return try await store.trips(since: since, until: until).map(\.id)
        }
        #expect(try await found(nil, nil) == [1, 2])
        #expect(try await found(9, nil) == [1, 2])
        #expect(try await found(10, nil) == [2])
        #expect(try await found(nil, 20) == [1])
        #expect(try await found(nil, 21) == [1, 2])
        #expect(try await found(10, 20) == [])
        #expect(try await found(25, 26) == [2])
        try store.close()
    }

    @Test func `if a trip cannot be stored, neither are its points`() async throws {
        let store = try fixture.open()
        var record = TripRecord.sample(0..<3, newest: 2)
        record.trip.distance = -1
        #expect(throws: DatabaseError.self) {
            try store.append(points(0..<3), trips: [record], state: .sample, durable: true)
        }
        #expect(try store.newestLocations(10).isEmpty)
        #expect(try store.state("location") == nil)
        try store.close()
    }

    @Test func `a file from before trips existed keeps its points`() async throws {
        let old = try DatabaseQueue(path: fixture.path)
        try Schema.migrator.migrate(old, upTo: "1 track, queue, state, settings")
        try await old.write { database in
            let insertion = try LocationInsertion(database, recorded: Date())
            for index in 0..<5 { try insertion.insert(.sample(index), id: Int64(index + 1)) }
        }
        try old.close()
        let store = try fixture.open()
        #expect(store.movedAside == nil)
        try store.append(points(5..<9), trips: [.sample(6..<9, newest: 8)], state: .sample, durable: true)
        #expect(try store.newestLocations(100) == points(0..<9))
        #expect(try await store.points(ofTrip: 1) == points(6..<9))
        try store.close()
    }

    @Test func `a trip longer than a page is returned in full`() async throws {
        let store = try fixture.open()
        try store.append(
            points(0..<3456),
            trips: [.sample(10..<3333, newest: 3455)],
            state: .sample,
            durable: true
        )
        #expect(try await store.points(ofTrip: 1) == points(10..<3333))
        try store.close()
    }

    @Test func `a purge deletes exactly the trips whose points it deletes`() async throws {
        let store = try fixture.open(
            syncInterval: .seconds(3600),
            retention: .zero,
            systemTime: { Date(timeIntervalSinceNow: 60) }
        )
        let records = [0..<50, 60..<64, 65..<90].map { TripRecord.sample($0, newest: 164) }
        try store.append(points(0..<165), trips: records, state: .sample, durable: false)
        let file = points(1000..<1040)
        let session = try await store.importPoints(
            file,
            trips: [.sample(0..<40, newest: 39)],
            openPoints: 0,
            into: .init()
        )
        #expect(session.stored == 40)
        #expect(session.trips == 1)
        await store.retention.waitForPurge()
        #expect(try store.newestLocations(1000) == points(65..<165))
        #expect(try await store.history(since: nil, until: nil).reduce(0) { $0 + $1.count } == 100)
        #expect(try await store.trips(since: nil, until: nil).map(\.id) == [3])
        #expect(try await store.points(ofTrip: 3) == points(65..<90))
        // The ids of deleted trips are not reused.
        try store.append(points(165..<170), trips: [.sample(0..<5, newest: 4)], state: .sample, durable: false)
        #expect(try await store.trips(since: nil, until: nil).map(\.id) == [5, 3])
        try store.close()
    }

    @Test func `a long purge does not block writers`() async throws {
        let store = try fixture.open(
            syncInterval: .seconds(3600),
            retention: .zero,
            systemTime: { Date(timeIntervalSinceNow: 60) }
        )
        try store.append(points(0..<30_000), state: .sample, durable: false)
        try store.append([.sample(30_000)], state: .sample, durable: true)
        // The first durable write started a purge in 15 portions; this write comes between them.
        try store.append([.sample(30_001)], state: .sample, durable: true)
        #expect(try await store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM location") } ?? 0 > 102)
        await store.retention.waitForPurge()
        #expect(try await store.history(since: nil, until: nil).reduce(0) { $0 + $1.count } == 100)
        try store.close()
    }

    @Test(arguments: [
        ("SELECT * FROM trip WHERE ended >= 1 AND began < 2 ORDER BY began, id", "USING INDEX tripEnded"),
        ("SELECT firstPoint, lastPoint, runs FROM trip WHERE id = 1", "USING INTEGER PRIMARY KEY"),
        ("SELECT id FROM location WHERE id < 0 ORDER BY id DESC LIMIT 1", "USING INTEGER PRIMARY KEY"),
        ("SELECT * FROM location WHERE id > 0 ORDER BY id DESC LIMIT 100", "USING INTEGER PRIMARY KEY"),
        (
            "SELECT * FROM location WHERE id BETWEEN 1 AND 9 AND time >= 1 AND time < 9 ORDER BY id LIMIT 1000",
            "USING INTEGER PRIMARY KEY"
        ),
        (
            "SELECT * FROM location WHERE (time, id) > (1, 2) AND time < 9 ORDER BY time, id LIMIT 1000",
            "USING INDEX locationTime"
        ),
        (
            "SELECT id, latitude, longitude FROM location WHERE time = 1 ORDER BY id DESC",
            "USING INDEX locationTime"
        ),
        ("SELECT id FROM location WHERE time BETWEEN 1 AND 2 LIMIT 1", "USING COVERING INDEX locationTime"),
        ("SELECT ended, points FROM trip WHERE imported = 1 AND firstPoint = 3", "(imported=? AND firstPoint=?)"),
    ])
    func `no query scans the whole history`(sql: String, plan: String) async throws {
        let store = try fixture.open()
        let details = try await store.database.read { database in
            try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN " + sql).map { $0["detail"] as String }
        }
        #expect(details.contains { $0.contains("SEARCH") && $0.contains(plan) }, "\(details)")
        #expect(!details.contains { $0.contains("SCAN") }, "\(details)")
        let sorts = details.filter { $0.contains("TEMP B-TREE") }
        #expect(sorts.isEmpty || sql.contains("FROM trip"), "\(details)")
        try store.close()
    }
}

extension StateStore {
    func points(ofTrip id: Int, since: Date? = nil, until: Date? = nil) async throws -> [Location]? {
        guard let pages = try await history(ofTrip: id, since: since, until: until) else { return nil }
        return try await pages.reduce(into: []) { $0 += $1 }
    }
}

extension TripRecord {
    /// Returns the trip of these points; `newest` is the last point of the transaction.
    static func sample(_ points: Range<Int>, newest: Int, inProgress: Bool = false) -> TripRecord {
        let (first, last) = (Location.sample(points.lowerBound), Location.sample(points.upperBound - 1))
        return TripRecord(
            trip: Trip(
                start: first.timestamp,
                end: last.timestamp,
                distance: 11.1 * Double(points.count),
                movingTime: Double(points.count) / 2,
                topSpeed: 11.5,
                bounds: GeographicBounds(
                    minLatitude: first.latitude,
                    minLongitude: 170,
                    maxLatitude: last.latitude,
                    maxLongitude: -170
                ),
                points: points.count,
                speeds: [1.25, 0, 3e300],
                inProgress: inProgress ? true : nil
            ),
            pointsAfterFirst: newest - points.lowerBound,
            pointsAfterLast: newest - points.upperBound + 1
        )
    }
}
