import BackgrounderAPI
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StateStore

/// Salvaging rows from a database that has to be set aside.
@Suite struct SalvageTests {
    private let fixture: StoreFixture
    private let points = (0..<5000).map { Location.sample($0) }

    init() throws {
        fixture = try StoreFixture()
    }

    /// Creates a database with rows in every kind of table, and closes it.
    private func fill() async throws {
        let store = try fixture.open()
        try store.append(points, trips: [.sample(0..<5000, newest: 4999)], state: .sample, durable: true)
        let items = (1...300).map { PlayerItem(id: $0, position: $0 - 1, path: "/music/\($0).mp3") }
        try await store.save([.inserted(items, .init())], state: StateRecord(name: "audio", value: Data("{}".utf8)))
        try await store.save([Setting(key: "location.distanceFilter", value: "5", configured: nil)])
        try await store.database.write { database in
            try database.execute(
                sql: """
                    INSERT INTO fetchSource (name, kind, url, interval, budget, standing)
                        VALUES ('news', 'feed', 'http://a/', '"never"', 30, x'7B7D');
                    INSERT INTO fetchOpen VALUES ('news', 1000, 0), ('news', 2000, 0);
                    INSERT INTO fetchContent (source, bytes, items) VALUES ('news', zeroblob(100000), '[]');
                    INSERT INTO place (name, shape, minLatitude, maxLatitude, minLongitude, maxLongitude)
                        VALUES ('Pier', '{}', 1, 2, 1799999999, -1799999999);
                    INSERT INTO placeBox VALUES (2, 1, 2, 1799999999, 1800000000), (3, 1, 2, -1800000000, -1799999999);
                    INSERT INTO push (name, url, topic, client) VALUES ('alarms', 'mqtt://b:1', 't', 'c');
                    INSERT INTO transferSession VALUES ('default', 7);
                    INSERT INTO task (id, name, command, state, budget, grace, used, boot, strict, repeats, isEndRequested)
                        VALUES (41, 'upload', '["true"]', 'finished', 10, 5, 0, 'b', 0, 0, 0);
                    DELETE FROM task WHERE id = 41;
                    """
            )
        }
        try store.close()
    }

    private func overwrite(pages query: String) async throws {
        let output = try await Tool.run("sqlite3", fixture.path, query)
        let list = String(decoding: output, as: UTF8.self).split(separator: "\n").compactMap { Int($0) }
        try #require(!list.isEmpty)
        var bytes = try fixture.bytes()
        for page in list {
            bytes.replaceSubrange((page - 1) * 4096..<page * 4096, with: repeatElement(0xFF, count: 4096))
        }
        try bytes.write(to: URL(fileURLWithPath: fixture.path))
    }

    @Test func `everything except the damaged page is salvaged, and the loss is reported until acknowledged`()
        async throws
    {
        try await fill()
        // Each start reads the newest points and so finds this damage.
        try await overwrite(
            pages: "SELECT pageno FROM dbstat WHERE name = 'location' AND pagetype = 'leaf' ORDER BY path DESC LIMIT 1"
        )
        let damaged = try fixture.bytes()
        let store = try fixture.open()
        let aside = try #require(store.movedAside)
        #expect(try Data(contentsOf: URL(fileURLWithPath: aside)) == damaged)
        let kept = try store.newestLocations(10_000)
        #expect((4940..<5000).contains(kept.count), "\(kept.count)")
        #expect(kept == Array(points.prefix(kept.count)))
        #expect(try store.queue().map(\.path) == (1...300).map { "/music/\($0).mp3" })
        #expect(try store.state("location") == StateRecord.sample.value)
        #expect(try store.settings().map(\.value) == ["5"])
        #expect(try await store.trips(since: nil, until: nil).count == 1)
        let counts = try await store.database.read { database in
            try ["fetchSource", "fetchOpen", "fetchContent", "push", "transferSession", "place", "placeBox"].map {
                try Int.fetchOne(database, sql: "SELECT count(*) FROM \($0)")
            }
        }
        #expect(counts == [1, 2, 1, 1, 1, 1, 2])
        #expect(
            try await store.database.read {
                try Int.fetchOne($0, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'task'")
            } == 41,
            "ids are never reused"
        )
        #expect(store.problems.map(\.kind) == [.setAside])
        #expect(store.problems.first?.message.contains("\(kept.count) points") == true, "\(store.problems)")
        try store.close()

        let again = try fixture.open()
        #expect(again.movedAside == nil)
        #expect(again.problems.map(\.kind) == [.setAside])
        try await again.acknowledgeIncidents()
        #expect(again.problems.isEmpty)
        try again.close()
        let third = try fixture.open()
        #expect(third.problems.isEmpty)
        try third.close()
    }

    /// Damages the whole page, the page size, or the number of reserved bytes per page.
    @Test(arguments: [(0..<4096, 0xFF), (16..<17, 0x11), (20..<21, 0x40)] as [(Range<Int>, UInt8)])
    func `a damaged first page loses no rows`(place: Range<Int>, byte: UInt8) async throws {
        try await fill()
        let before = try await rows()
        var bytes = try fixture.bytes()
        for offset in place { bytes[offset] = byte }
        try bytes.write(to: URL(fileURLWithPath: fixture.path))
        let store = try fixture.open()
        #expect(store.movedAside != nil)
        try store.close()
        let after = try await rows()
        for (table, rows) in before { #expect(after[table] == rows, "\(table)") }
        try fixture.open().close()
    }

    @Test func `rows are salvaged together with parents that damage hides`() async throws {
        try await fill()
        try await Tool.run(
            "sqlite3",
            fixture.path,
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
                INSERT INTO fetchSource (name, kind, url, interval, budget, standing)
                SELECT 'source' || i, 'feed', 'http://a/', '"never"', 30, x'7B7D' FROM n;
            """
        )
        let before = try await rows()
        try await overwrite(
            pages: "SELECT pageno FROM dbstat WHERE name = 'fetchSource' AND pagetype = 'internal' AND path = '/'"
        )
        let store = try fixture.open()
        #expect(store.movedAside != nil)
        try store.close()
        let after = try await rows()
        for (table, rows) in before { #expect(after[table] == rows, "\(table)") }
    }

    /// Returns the rows of all tables except what the store records about the file itself.
    private func rows() async throws -> [String: String] {
        var rows: [String: String] = [:]
        let own = ["sync", "grdb_migrations"]
        let names = try await Tool.run("sqlite3", fixture.path, "SELECT name FROM sqlite_schema WHERE type = 'table'")
        for name in String(decoding: names, as: UTF8.self).split(separator: "\n").map(String.init)
        where !own.contains(name) {
            let order = name == "sqlite_sequence" ? "name" : "1, 2"
            let condition = name == "state" ? "WHERE name NOT LIKE 'storage.%'" : ""
            let output = try await Tool.run(
                "sqlite3",
                fixture.path,
                ".mode quote",
                "SELECT * FROM \(name) \(condition) ORDER BY \(order)"
            )
            rows[name] = String(decoding: output, as: UTF8.self)
        }
        return rows
    }

    @Test func `rows that violate the schema are detected at startup and dropped`() async throws {
        try await fill()
        try await Tool.run(
            "sqlite3",
            fixture.path,
            """
            PRAGMA ignore_check_constraints = ON;
            UPDATE queueItem SET position = -1 WHERE id = 5;
            """
        )
        let store = try fixture.open()
        #expect(store.movedAside != nil)
        #expect(try store.queue().count == 299)
        #expect(try store.newestLocations(10_000) == points)
        try store.close()
    }

    @Test func `damage found while reading is repaired at the next start`() async throws {
        try await fill()
        try await overwrite(
            pages:
                "SELECT pageno FROM dbstat WHERE name = 'location' AND pagetype = 'leaf' ORDER BY path LIMIT 1 OFFSET 5"
        )
        let store = try fixture.open()
        #expect(store.movedAside == nil)
        #expect(store.problems.isEmpty)
        let found = try await store.history(since: nil, until: nil).reduce(into: []) { $0 += $1 }
        #expect(store.problems.map(\.kind) == [.damaged])
        try store.close()
        let repaired = try fixture.open()
        #expect(repaired.movedAside != nil)
        #expect(repaired.problems.map(\.kind) == [.setAside])
        let kept = try await repaired.history(since: nil, until: nil).reduce(into: []) { $0 += $1 }
        #expect(kept.map(\.timestamp) == found.map(\.timestamp))
        try repaired.close()
    }

    @Test(arguments: [true, false])
    func `a database that disappeared is reported, a first start is not`(isEmpty: Bool) async throws {
        let first = try fixture.open()
        #expect(first.problems.isEmpty)
        try first.close()
        try FileManager.default.removeItem(atPath: fixture.path)
        if isEmpty { try fixture.scratch.write("", to: "backgrounder.sqlite") }
        let store = try fixture.open()
        #expect(store.problems.map(\.kind) == [.missing])
        try store.close()
    }
}
