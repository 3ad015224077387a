import BackgrounderAPI
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StateStore

/// Points that are not in the history yet: they cost little to store, and no reader notices.
@Suite struct RecentPointsTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    /// Stores `range` point by point, with a state of the size of the location mode's and a trip in progress.
    private func track(_ range: Range<Int>, in store: StateStore) throws {
        for index in range {
            try store.append(
                [.sample(index)],
                from: .receiver,
                trips: [.sample(0..<index + 1, newest: index, inProgress: true)],
                state: StateRecord(name: "location", value: Data(repeating: UInt8(index % 256), count: 1600)),
                durable: true
            )
        }
    }

    /// The number of pages in the log.
    private func loggedPages() throws -> Int {
        let size = try FileManager.default.attributesOfItem(atPath: fixture.path + "-wal")[.size] as? Int
        return (try #require(size) - 32) / (4096 + 24)
    }

    private func history(of store: StateStore) async throws -> [Location] {
        try await store.history(since: nil, until: nil).reduce(into: []) { $0 += $1 }
    }

    @Test func `a point costs at most three pages of the log, and a sync none`() async throws {
        let store = try fixture.open(syncInterval: .seconds(3600))
        try track(0..<100, in: store)
        let before = try loggedPages()
        try track(100..<740, in: store)
        let pages = try Double(loggedPages() - before) / 640
        print("\(pages) pages a point")
        #expect(pages < 3)
        let logged = try loggedPages()
        try store.database.syncEverything()
        #expect(try loggedPages() == logged)
        try store.close()
    }

    @Test(arguments: [1, 31, 32, 33, 34, 100])
    func `every reader gets all points and the whole trip`(count: Int) async throws {
        let store = try fixture.open(syncInterval: .seconds(3600))
        let points = (0..<count).map { Location.sample($0) }
        try track(0..<count, in: store)
        #expect(try store.newestLocations(1000) == points)
        let trips = try await store.trips(since: nil, until: nil)
        #expect(trips.map(\.points) == [count])
        let trip = try #require(trips.first)
        #expect(try await history(of: store) == points)
        #expect(try await store.points(ofTrip: trip.id) == points)
        try track(count..<count + 5, in: store)
        #expect(try await history(of: store).count == count + 5)
        #expect(try await store.points(ofTrip: trip.id)?.count == count + 5)
        #expect(try await store.trips(since: nil, until: nil).map(\.points) == [count + 5])
        try store.close()
    }

    @Test func `points and trip survive the end of the process`() async throws {
        // The first store is never closed, as after kill -9.
        let killed = try fixture.open(syncInterval: .seconds(3600))
        try track(0..<35, in: killed)
        // The purge after the first durable write moves points to the history, too.
        await killed.retention.waitForPurge()
        try track(35..<40, in: killed)
        let store = try fixture.open(syncInterval: .seconds(3600))
        #expect(try await history(of: store) == (0..<40).map { Location.sample($0) })
        #expect(try await store.trips(since: nil, until: nil).map(\.points) == [40])
        #expect(try store.state("location")?.first == 39)
        try store.close()
        try killed.database.close()
    }

    @Test func `other programs find all points in the history after an orderly end`() throws {
        let store = try fixture.open()
        try track(0..<10, in: store)
        try store.close()
        let database = try DatabaseQueue(path: fixture.path)
        let counts = try database.read { database in
            try ["location", "recentLocation"].map { try Int.fetchOne(database, sql: "SELECT count(*) FROM \($0)") }
        }
        #expect(counts == [10, 0])
        try database.close()
    }

    @Test func `the end of a trip replaces its state in progress`() async throws {
        let store = try fixture.open()
        try track(0..<10, in: store)
        let ended = TripRecord.sample(0..<8, newest: 10)
        try store.append([.sample(10)], trips: [ended], state: .sample, durable: true)
        #expect(try await store.trips(since: nil, until: nil).map(\.points) == [8])
        #expect(try await store.trips(since: nil, until: nil).map(\.inProgress) == [nil])
        try store.close()
    }

    @Test func `deletion and import know recent points`() async throws {
        let store = try fixture.open()
        try track(0..<10, in: store)
        let imported = try await store.importPoints(
            (5..<12).map { .sample($0) },
            trips: [],
            openPoints: 0,
            into: ImportSession()
        )
        #expect(imported.known == 5)
        try track(10..<12, in: store)
        let reply = try await store.deletePoints(
            since: Location.sample(11).timestamp,
            until: nil,
            ofTrip: nil,
            upTo: store.newestPoint(),
            isTrial: false
        ) { _ in [] }
        #expect(reply?.points == 2)
        #expect(try await history(of: store).count == 12)
        try store.close()
    }

    @Test func `a backup has them in the history`() async throws {
        let store = try fixture.open()
        try track(0..<10, in: store)
        let file = fixture.path + ".backup"
        let summary = try Backup.write(from: fixture.path, to: file)
        #expect(summary.points == 10)
        #expect(summary.trips == 1)
        try store.close()
    }
}
