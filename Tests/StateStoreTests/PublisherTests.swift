import BackgrounderAPI
import Foundation
import GRDB
import SystemSupport
import TestSupport
import Testing

@testable import StateStore

/// The publishers, and the keys of the points that they send.
@Suite struct PublisherTests {
    private let scratch: ScratchDirectory
    private var path: String { scratch.file("state.sqlite") }

    init() throws { scratch = try ScratchDirectory() }

    private func open() throws -> StateStore {
        try StateStore(path: path, syncInterval: .seconds(60), retention: .seconds(1e9)) { _ in }
    }

    private func append(_ count: Int, to store: StateStore, from first: Int = 0) throws {
        let locations = (first..<first + count).map { second in
            Location(latitude: 1, longitude: 2, timestamp: Date(timeIntervalSince1970: 1e9 + Double(second)), mode: 3)
        }
        for location in locations {
            try store.append([location], state: StateRecord(name: "x", value: Data()), durable: false)
        }
    }

    private func publisher(_ name: String = "office", done: Int64 = 0) throws -> StoredPublisher {
        StoredPublisher(
            name: name,
            address: try PublisherAddress("mqtts://broker.example"),
            machine: try MachineID("bus12"),
            topic: "owntracks/fleet/bus12",
            isForHomeAssistant: true,
            credentials: "/etc/mqtt",
            progress: PublishProgress(done: done)
        )
    }

    @Test func `publishers and their progress are kept`() async throws {
        var store = try open()
        try append(50, to: store)
        var other = try publisher("other")
        other.isDeclared = true
        try await store.changePublishers(removing: [], adding: [try publisher(), other], adopting: [])
        var progress = PublishProgress(done: 40, published: 60, acknowledged: 38, dropped: 2)
        progress.lastAcknowledged = Date(timeIntervalSince1970: 1e9)
        try store.save(progress, of: "office")
        try await store.setPaused(true, of: "office")
        try store.close()
        store = try open()
        var expected = try publisher()
        (expected.isPaused, expected.progress) = (true, progress)
        #expect(try store.publishers() == [expected, other])
        try await store.changePublishers(removing: ["other"], adding: [], adopting: ["office"])
        expected.isDeclared = true
        #expect(try store.publishers() == [expected])
        await #expect(throws: (any Error).self) {
            try await store.changePublishers(removing: [], adding: [try publisher()], adopting: [])
        }
        try store.close()
    }

    @Test func `progress is saved with the next point, and never over a newer one`() async throws {
        let store = try open()
        try append(50, to: store)
        try await store.changePublishers(removing: [], adding: [try publisher()], adopting: [])
        var done: Int64? { get throws { try store.publishers().first?.progress.done } }
        #expect(!store.saveWithNextPoints(PublishProgress(done: 19), of: "office"))
        #expect(store.saveWithNextPoints(PublishProgress(done: 20), of: "office"))
        #expect(try done == 0)
        try append(1, to: store, from: 50)
        #expect(try done == 20)
        #expect(!store.saveWithNextPoints(PublishProgress(done: 21), of: "office"))
        try store.save(PublishProgress(done: 10), of: "office")
        try append(1, to: store, from: 51)
        #expect(try done == 10)
        try store.close()
    }

    @Test func `the migration for web servers keeps publishers to brokers`() async throws {
        var store = try open()
        var publisher = try publisher()
        publisher.groups = [try MachineID("red")]
        publisher.progress = PublishProgress(done: 0, published: 9, acknowledged: 7, dropped: 1)
        try await store.changePublishers(removing: [], adding: [publisher], adopting: [])
        try store.close()
        let database = try DatabaseQueue(path: path)
        try await database.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE old (
                        number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, declared INTEGER NOT NULL DEFAULT 0,
                        url TEXT NOT NULL CHECK (url LIKE 'mqtt://%' OR url LIKE 'mqtts://%'), machine TEXT NOT NULL,
                        topic TEXT NOT NULL, homeAssistant INTEGER NOT NULL, credentials TEXT, paused INTEGER NOT NULL DEFAULT 0,
                        done INTEGER NOT NULL, published INTEGER NOT NULL DEFAULT 0, acknowledged INTEGER NOT NULL DEFAULT 0,
                        dropped INTEGER NOT NULL DEFAULT 0, lastAcknowledged INTEGER, groups TEXT NOT NULL DEFAULT '',
                        certificate TEXT, certificateKey TEXT
                    ) STRICT;
                    INSERT INTO old SELECT number, name, declared, url, machine, topic, homeAssistant, credentials, paused, done,
                        published, acknowledged, dropped, lastAcknowledged, groups, certificate, certificateKey FROM publisher;
                    DROP TABLE publisher;
                    ALTER TABLE old RENAME TO publisher;
                    DELETE FROM grdb_migrations WHERE identifier LIKE '21 %';
                    """
            )
        }
        try database.close()
        store = try open()
        #expect(try store.publishers() == [publisher])
        var web = publisher
        (web.name, web.address) = ("web", try PublisherAddress("https://h/pub?a=1"))
        try await store.changePublishers(removing: [], adding: [web], adopting: [])
        #expect(try store.publishers() == [publisher, web])
        try store.close()
    }

    @Test func `points come in the order of ids from both tables, without imported ones`() async throws {
        let store = try open()
        try append(100, to: store)
        try await store.changePublishers(removing: [], adding: [try publisher()], adopting: [])
        // 32 points fill the table of the newest ones, so the last points are there.
        for (after, limit) in [(0, 100), (0, 7), (60, 40), (94, 20), (100, 5), (-5, 3)] as [(Int64, Int)] {
            let points = try store.points(after: after, limit: limit)
            let first = max(after, 0) + 1
            #expect(points.map(\.id) == Array((first..<first + Int64(limit)).prefix { $0 <= 100 }))
            #expect(points.allSatisfy { $0.location.timestamp.timeIntervalSince1970 == 1e9 + Double($0.id) - 1 })
            #expect(Set(points.map(\.generation)).count <= 1)
        }
        #expect(try await store.newestPointID() == 100)
        for (second, id) in [(0, 0), (0.5, 1), (50, 50), (99, 99), (99.5, 100)] as [(Double, Int64)] {
            #expect(try await store.lastPoint(before: Date(timeIntervalSince1970: 1e9 + second)) == id)
        }
        try store.close()
    }

    @Test func `points that take ids again after a power cut have another generation`() async throws {
        var store = try open()
        try append(10, to: store)
        try await store.changePublishers(removing: [], adding: [try publisher()], adopting: [])
        try store.close()
        store = try open()
        try append(5, to: store, from: 10)
        let lost = try store.points(after: 12, limit: 10)
        try store.save(PublishProgress(done: 15), of: "office")
        try store.close()
        // A power cut deletes points that were not synced.
        let file = try DatabaseQueue(path: path)
        try await file.write {
            try $0.execute(sql: "DELETE FROM recentLocation WHERE id > 12; DELETE FROM location WHERE id > 12")
        }
        try file.close()

        store = try open()
        #expect(try store.publishers().first?.progress.done == 12)
        try append(5, to: store, from: 100)
        let points = try store.points(after: 0, limit: 100)
        #expect(points.map(\.id) == Array(1...17))
        let generations = points.map(\.generation)
        #expect(Set(generations[..<10]).count == 1)
        #expect(Set(generations[10..<12]) == Set(lost.map(\.generation)))
        #expect(Set(generations[12...]).isDisjoint(with: generations[..<12]))
        #expect(generations.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{8}/) != nil })
        try store.close()
    }

    @Test func `the ids of deleted points are not used again, also after a restart`() async throws {
        var store = try open()
        try append(40, to: store)
        try await store.changePublishers(removing: [], adding: [try publisher()], adopting: [])
        let newest = try await store.newestPoint()
        _ = try await store.deletePoints(since: nil, until: nil, ofTrip: nil, upTo: newest, isTrial: false) { _ in [] }
        #expect(try await store.newestPointID() == 40)
        try append(1, to: store, from: 40)
        #expect(try store.points(after: 0, limit: 9).map(\.id) == [41])
        let second = try await store.newestPoint()
        _ = try await store.deletePoints(since: nil, until: nil, ofTrip: nil, upTo: second, isTrial: false) { _ in [] }
        try store.close()
        store = try open()
        try append(2, to: store, from: 41)
        #expect(try store.points(after: 0, limit: 9).map(\.id) == [42, 43])
        try store.close()
    }

    @Test func `the newest points in memory are those of the database`() async throws {
        var store = try open()
        var time = 1e9
        func value() -> Double? { [nil, -0.0, 0, .random(in: 0..<360)].randomElement()! }
        func accuracy() -> Double? { [nil, .random(in: 0.001...50)].randomElement()! }
        var (fromMemory, generations) = (0, Set<String>())
        for step in 0..<120 {
            let locations = (0..<Int.random(in: 0...(step % 10 == 0 ? 90 : 3))).map { _ in
                time += .random(in: 0...1)
                return Location(
                    latitude: .random(in: -90...90),
                    longitude: .random(in: -180...180),
                    altitude: value(),
                    horizontalAccuracy: accuracy(),
                    accuracySource: Bool.random() ? .receiver : nil,
                    verticalAccuracy: accuracy(),
                    speed: value(),
                    course: value(),
                    timestamp: Date(timeIntervalSince1970: time),
                    mode: .random(in: 2...3),
                    segmentStart: [nil, false, true].randomElement()!
                )
            }
            let origin = [LocationOrigin.receiver, .file].randomElement()!
            try store.append(locations, from: origin, state: StateRecord(name: "x", value: Data()), durable: false)
            switch step {
            case 20: try await store.changePublishers(removing: [], adding: [try publisher()], adopting: [])
            case 40, 60, 61:
                try store.close()
                store = try open()
            case 80, 100:
                let newest = try await store.newestPoint()
                if step == 100 { try append(3, to: store) }
                _ = try await store.deletePoints(since: nil, until: nil, ofTrip: nil, upTo: newest, isTrial: false) {
                    _ in []
                }
            default: break
            }
            let newest = try await store.newestPointID()
            for back in [0, 1, 5, 63, 64, 200] where newest >= back {
                let limit = Int.random(in: 1...30)
                let points = try store.points(after: newest - Int64(back), limit: limit)
                #expect(points == (try store.readPoints(after: newest - Int64(back), limit: limit)), "\(step), \(back)")
                generations.formUnion(points.map(\.generation))
                if store.latestPoints.points(after: newest - Int64(back), limit: limit) != nil { fromMemory += 1 }
            }
        }
        // The empty name is that of points before the first publisher.
        #expect(generations.subtracting([""]).count >= 4)
        #expect(fromMemory > 200)
        try store.close()
    }

    @Test func `a start without publishers begins no generation, and old ones are deleted`() async throws {
        var store = try open()
        #expect(try await store.database.read { try !$0.hasGenerations })
        try store.close()
        store = try open()
        try append(1, to: store)
        #expect(try await store.database.read { try !$0.hasGenerations })
        try await store.changePublishers(removing: [], adding: [try publisher()], adopting: [])
        for start in 1...40 {
            try store.close()
            store = try open()
            try append(1, to: store, from: start)
            // Only the newest points are left.
            try await store.write(durable: false) {
                try $0.execute(sql: "DELETE FROM location WHERE id < \(start - 2)")
            }
        }
        let count = try await store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM generation") }
        #expect((2...40).contains(try #require(count)), "\(String(describing: count))")
        try store.close()
    }
}
