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

    @Test func `all data is restored after reopening`() async throws {
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
        try first.append(points, state: StateRecord(name: "location", value: Data("one".utf8)), durable: true)
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

    @Test func `a cancelled task still completes its write`() async throws {
        let store = try fixture.open()
        let setting = Setting(key: "a", value: "1", configured: nil)
        try await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await store.save([setting])
        }.value
        #expect(try store.settings() == [setting])
        try store.close()
    }

    @Test func `a second connection sees what was committed while the first is still open`() async throws {
        let store = try fixture.open(syncInterval: .seconds(3600))
        try store.append([.sample(0)], state: .sample, durable: true)
        try store.append([.sample(1)], state: .sample, durable: false)
        // As after kill -9: the first connection is still open and has not synced.
        let other = try DatabaseQueue(path: fixture.path)
        #expect(try await other.read { try $0.newestLocations(10) } == [.sample(0), .sample(1)])
        try other.close()
        try store.close()
    }

    @Test func `durable writes are synced together, one interval after the first`() async throws {
        let interval = Duration.milliseconds(200)
        let store = try fixture.open(syncInterval: interval)
        let synced = try LogSyncs(of: store)
        let begin = ContinuousClock.now
        for index in 0..<50 { try store.append([.sample(index)], state: .sample, durable: true) }
        let intervals = Int((ContinuousClock.now - begin) / interval)
        try await synced.signal.wait(for: "sync of the last write") { synced.writesSinceSync == 0 ? () : nil }
        #expect(ContinuousClock.now - begin >= interval)
        #expect((1...intervals + 1).contains(synced.count))
        let count = synced.count
        try store.append([.sample(50)], state: .sample, durable: true)
        try await synced.signal.wait(for: "one more sync") { synced.count > count ? () : nil }
        #expect(synced.count == count + 1)
        try store.close()
        #expect(fixture.syncFailures.all.isEmpty)
    }

    @Test func `writes that are not durable cause no sync`() async throws {
        let store = try fixture.open(syncInterval: .zero)
        let synced = try LogSyncs(of: store)
        for index in 0..<50 { try store.append([.sample(index)], state: .sample, durable: false) }
        try store.append([.sample(50)], state: .sample, durable: true)
        try await synced.signal.wait(for: "sync of the last write") { synced.writesSinceSync == 0 ? () : nil }
        #expect(synced.count == 1)
        try store.close()
    }

    @Test func `closing syncs only if a durable write is pending`() throws {
        let store = try fixture.open(syncInterval: .seconds(3600))
        // The last connection that closes syncs, too.
        let other = try fixture.open(syncInterval: .seconds(3600))
        var synced = try LogSyncs(of: store)
        try store.append([.sample(0)], state: .sample, durable: true)
        try store.close()
        #expect(synced.count == 1)
        let again = try fixture.open(syncInterval: .seconds(3600))
        synced = try LogSyncs(of: again)
        try again.close()
        #expect(synced.count == 0)
        try other.close()
    }

    @Test func `a failed sync is reported, and committed points stay`() async throws {
        let store = try fixture.open(syncInterval: .milliseconds(20))
        try store.append([.sample(0)], state: .sample, durable: false)
        let synced = try LogSyncs(of: store)
        synced.fail(true)
        try store.append([.sample(1)], state: .sample, durable: true)
        try await fixture.syncFailures.signal.wait(for: "failure") { fixture.syncFailures.all.isEmpty ? nil : () }
        #expect(try store.newestLocations(10).count == 2)
        // The timer retries the sync, and so does the next durable write.
        synced.fail(false)
        try store.append([.sample(2)], state: .sample, durable: true)
        try await synced.signal.wait(for: "sync") { synced.count > 0 ? () : nil }
        try store.close()
    }

    @Test func `on a full disk a write fails as a whole and the store stays usable`() async throws {
        let store = try fixture.open()
        try store.append([.sample(0)], state: .sample, durable: true)
        // SQLite's limit of the file size causes the error of a full disk, SQLITE_FULL.
        try await store.database.writeWithoutTransaction { database in
            let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            try database.execute(sql: "PRAGMA max_page_count = \(pages)")
        }
        let many = (1..<5000).map { Location.sample($0) }
        let error = #expect(throws: StorageFailure.self) {
            try store.append(many, state: StateRecord(name: "location", value: Data("new".utf8)), durable: true)
        }
        #expect(error?.kind == .diskFull)
        #expect(try store.newestLocations(10) == [.sample(0)])
        #expect(try store.state("location") == StateRecord.sample.value)
        try await store.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA max_page_count = 1000000") }
        try store.append(many, state: .sample, durable: true)
        #expect(try store.newestLocations(10_000).count == 5000)
        try store.close()
    }

    @Test func `a purge deletes points older than the retention, but never the newest 100`() async throws {
        let store = try fixture.open(syncInterval: .seconds(3600), retention: .zero)
        let points = (0..<130).map { Location.sample($0) }
        for point in points { try store.append([point], from: .receiver, state: .sample, durable: false) }
        // The first durable write of an hour starts a purge after its commit.
        try store.append([.sample(130)], from: .receiver, state: .sample, durable: true)
        await store.retention.waitForPurge()
        #expect(try store.newestLocations(1000) == points.suffix(99) + [.sample(130)])
        try store.append([.sample(131)], state: .sample, durable: true)
        #expect(try store.newestLocations(1000).count == 101)
        try store.close()
    }

    @Test func `points younger than the retention stay`() async throws {
        let store = try fixture.open(retention: .seconds(60))
        try store.append((0..<300).map { .sample($0) }, state: .sample, durable: true)
        #expect(try store.newestLocations(1000).count == 300)
        try store.close()
    }

    @Test func `the schema rejects an invalid point together with its whole write`() async throws {
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
            #expect(throws: DatabaseError.self) {
                try store.append([.sample(0), bad], state: .sample, durable: true)
            }
        }
        #expect(try store.newestLocations(10).isEmpty)
        #expect(try store.state("location") == nil)
        try store.close()
    }

    @Test func `settings are replaced, listed by key and removed`() async throws {
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
