import BackgrounderAPI
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import StateStore

@Suite struct StateStoreTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test func `Everything is there again after reopening`() async throws {
        let points = (0..<250).map { Location.sample($0) }
        let queue = [
            PlayerItem(
                id: 7,
                position: 0,
                path: "/a.mp3",
                title: "A",
                duration: 3.5,
                sampleRate: 44_100,
                channels: 2,
                codec: "MP3"
            )
        ]
        let setting = Setting(key: "location.distanceFilter", value: "10", configured: nil)
        let first = try fixture.open()
        try await first.append(points, state: StateRecord(name: "location", value: Data("one".utf8)), durable: true)
        try await first.save([.replaced(queue)], state: StateRecord(name: "audio", value: Data("two".utf8)))
        try await first.save([setting])
        try await first.save(StateRecord(name: "audio", value: Data("three".utf8)), durable: false)
        try first.close()

        let second = try fixture.open()
        #expect(second.movedAside == nil)
        #expect(try second.newestLocations(100) == points.suffix(100))
        #expect(try second.newestLocations(1000) == points)
        #expect(try second.queue() == queue)
        #expect(try second.settings() == [setting])
        #expect(try second.state("location") == Data("one".utf8))
        #expect(try second.state("audio") == Data("three".utf8))
        #expect(try second.state("unknown") == nil)
        try second.close()
    }

    @Test func `A task that was cancelled still stores what happened`() async throws {
        let store = try fixture.open()
        let setting = Setting(key: "a", value: "1", configured: nil)
        try await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await store.save([setting])
        }.value
        #expect(try store.settings() == [setting])
        try store.close()
    }

    @Test func `What was committed is there for a second process while the first still runs`() async throws {
        let store = try fixture.open(syncInterval: .seconds(3600))
        try await store.append([.sample(0)], state: .sample, durable: true)
        try await store.append([.sample(1)], state: .sample, durable: false)
        // As after kill -9: the first connection is open and has synced nothing.
        let other = try DatabaseQueue(path: fixture.path)
        #expect(try await other.read { try $0.newestLocations(10) } == [.sample(0), .sample(1)])
        try other.close()
        try store.close()
    }

    @Test func `Durable writes are synced an interval after the first of them, once for all that wait`() async throws {
        let interval = Duration.milliseconds(200)
        let store = try fixture.open(syncInterval: interval)
        let synced = SyncObserver(store)
        let begin = ContinuousClock.now
        for index in 0..<50 { try await store.append([.sample(index)], state: .sample, durable: true) }
        let intervals = Int((ContinuousClock.now - begin) / interval)
        try await synced.signal.wait(for: "sync of the last write") { synced.writesSinceSync == 0 ? () : nil }
        #expect(ContinuousClock.now - begin >= interval)
        #expect((1...intervals + 1).contains(try store.syncCount()))
        let count = try store.syncCount()
        try await store.append([.sample(50)], state: .sample, durable: true)
        try await synced.signal.wait(for: "one more sync") { synced.count > count ? () : nil }
        #expect(try store.syncCount() == count + 1)
        try store.close()
        #expect(fixture.syncFailures.all.isEmpty)
    }

    @Test func `Writes that are not durable are never synced alone`() async throws {
        let store = try fixture.open(syncInterval: .zero)
        for index in 0..<50 { try await store.append([.sample(index)], state: .sample, durable: false) }
        try store.close()
        let other = try DatabaseQueue(path: fixture.path)
        #expect(try await other.read { try Int.fetchOne($0, sql: "SELECT count FROM sync") } == 0)
    }

    @Test func `Closing syncs what waits, and only that`() async throws {
        let store = try fixture.open(syncInterval: .seconds(3600))
        try await store.append([.sample(0)], state: .sample, durable: true)
        try store.close()
        let again = try fixture.open(syncInterval: .seconds(3600))
        #expect(try again.syncCount() == 1)
        try again.close()
        let third = try fixture.open()
        #expect(try third.syncCount() == 1)
        try third.close()
    }

    @Test func `A disk that refuses to sync is reported, and what was committed stays`() async throws {
        let store = try fixture.open(syncInterval: .milliseconds(20))
        try await store.append([.sample(0)], state: .sample, durable: false)
        try await store.database.writeWithoutTransaction {
            try $0.execute(sql: "CREATE TRIGGER refused BEFORE UPDATE ON sync BEGIN SELECT RAISE(FAIL, 'no'); END")
        }
        try await store.append([.sample(1)], state: .sample, durable: true)
        try await fixture.syncFailures.signal.wait(for: "failure") { fixture.syncFailures.all.isEmpty ? nil : () }
        #expect(try store.newestLocations(10).count == 2)
        // The next durable write tries again.
        try await store.database.write { try $0.execute(sql: "DROP TRIGGER refused") }
        let synced = SyncObserver(store)
        try await store.append([.sample(2)], state: .sample, durable: true)
        try await synced.signal.wait(for: "sync") { synced.count > 0 ? () : nil }
        #expect(try store.syncCount() == 1)
        try store.close()
    }

    @Test func `On a full disk a write fails, the store lives, and nothing of the write is there`() async throws {
        let store = try fixture.open()
        try await store.append([.sample(0)], state: .sample, durable: true)
        // SQLite's own limit of the file gives the error of a full disk, SQLITE_FULL.
        try await store.database.writeWithoutTransaction { database in
            let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            try database.execute(sql: "PRAGMA max_page_count = \(pages)")
        }
        let many = (1..<5000).map { Location.sample($0) }
        let error = await #expect(throws: StorageFailure.self) {
            try await store.append(many, state: StateRecord(name: "location", value: Data("new".utf8)), durable: true)
        }
        #expect(error?.kind == .diskFull)
        #expect(try store.newestLocations(10) == [.sample(0)])
        #expect(try store.state("location") == StateRecord.sample.value)
        try await store.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA max_page_count = 1000000") }
        try await store.append(many, state: .sample, durable: true)
        #expect(try store.newestLocations(10_000).count == 5000)
        try store.close()
    }

    @Test func `A purge takes what is older than the retention, and never one of the newest 100`() async throws {
        let store = try fixture.open(syncInterval: .seconds(3600), retention: .zero)
        let points = (0..<130).map { Location.sample($0) }
        for point in points { try await store.append([point], from: .receiver, state: .sample, durable: false) }
        // The first durable write of an hour purges, after it is committed.
        try await store.append([.sample(130)], from: .receiver, state: .sample, durable: true)
        await store.retention.settled()
        #expect(try store.newestLocations(1000) == points.suffix(99) + [.sample(130)])
        try await store.append([.sample(131)], state: .sample, durable: true)
        #expect(try store.newestLocations(1000).count == 101)
        try store.close()
    }

    @Test func `What is younger than the retention stays`() async throws {
        let store = try fixture.open(retention: .seconds(60))
        try await store.append((0..<300).map { .sample($0) }, state: .sample, durable: true)
        #expect(try store.newestLocations(1000).count == 300)
        try store.close()
    }

    @Test func `A point that could not have been is refused by the schema, with the whole write`() async throws {
        let store = try fixture.open()
        for (latitude, longitude, accuracy, mode) in [(91, 0, 1, 3), (0, -180.5, 1, 3), (0, 0, 0, 3), (0, 0, 1, 1)]
            as [(Double, Double, Double, Int)]
        {
            let bad = Location(
                latitude: latitude,
                longitude: longitude,
                horizontalAccuracy: accuracy,
                timestamp: Date(timeIntervalSince1970: 0),
                mode: mode
            )
            await #expect(throws: DatabaseError.self) {
                try await store.append([.sample(0), bad], state: .sample, durable: true)
            }
        }
        #expect(try store.newestLocations(10).isEmpty)
        #expect(try store.state("location") == nil)
        try store.close()
    }

    @Test func `Settings are replaced, listed by key and removed`() async throws {
        let store = try fixture.open()
        try await store.save([
            Setting(key: "b", value: "1", configured: "0"), Setting(key: "a", value: "2", configured: nil),
        ])
        try await store.save([Setting(key: "b", value: "3", configured: nil)])
        #expect(
            try store.settings() == [
                Setting(key: "a", value: "2", configured: nil), Setting(key: "b", value: "3", configured: nil),
            ]
        )
        try await store.removeSettings(["a", "unknown"])
        #expect(try store.settings().map(\.key) == ["b"])
        try store.close()
    }
}

/// Hears of each sync of a store, and of the points before it, when they were committed.
private final class SyncObserver: TransactionObserver, Sendable {
    private struct Changes {
        var pending: [String] = []
        var syncs = 0
        var writesSinceSync = 0
    }

    let signal = Signal()
    private let changes = Mutex(Changes())

    var count: Int { changes.withLock { $0.syncs } }
    var writesSinceSync: Int { changes.withLock { $0.writesSinceSync } }

    init(_ store: StateStore) {
        store.database.add(transactionObserver: self, extent: .databaseLifetime)
    }

    func observes(eventsOfKind kind: DatabaseEventKind) -> Bool { true }

    func databaseDidChange(with event: DatabaseEvent) { changes.withLock { $0.pending.append(event.tableName) } }

    func databaseDidCommit(_ database: Database) {
        changes.withLock { changes in
            for table in changes.pending {
                if table == "sync" { (changes.syncs, changes.writesSinceSync) = (changes.syncs + 1, 0) }
                if table == "location" { changes.writesSinceSync += 1 }
            }
            changes.pending = []
        }
        signal.post()
    }

    func databaseDidRollback(_ database: Database) { changes.withLock { $0.pending = [] } }
}
