import BackgrounderAPI
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StateStore

/// Migrations from every released version, with rows in every table.
@Suite struct MigrationTests {
    private static let versions = 1...8
    private static let time = 1_763_708_150.0

    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    /// Creates a database of the given schema version.
    ///
    /// - Returns: Its rows by table. The texts of the values show their types.
    private func makeDatabase(_ version: Int) throws -> [String: [[String: String]]] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "Schemas/version-\(version).sql"
        )
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let database = try DatabaseQueue(path: fixture.path, configuration: configuration)
        defer { try? database.close() }
        let sql = try String(contentsOf: file, encoding: .utf8)
        try database.writeWithoutTransaction { try $0.execute(sql: sql) }
        return try database.read(rows)
    }

    private func rows(_ database: Database) throws -> [String: [[String: String]]] {
        let tables = try String.fetchAll(
            database,
            sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        )
        return try Dictionary(
            uniqueKeysWithValues: tables.map { table in
                let rows = try Row.fetchAll(database, sql: "SELECT * FROM \(table)").map { row in
                    Dictionary(uniqueKeysWithValues: row.map { ($0.0, "\($0.1)") })
                }
                return (table, rows)
            }
        )
    }

    private func at(days: Double) -> @Sendable () -> Date? {
        { Date(timeIntervalSince1970: Self.time + days * 86_400) }
    }

    @Test(arguments: versions)
    func `a migration keeps every row of every table`(version: Int) async throws {
        let before = try makeDatabase(version)
        #expect(before.values.allSatisfy { !$0.isEmpty })
        let store = try fixture.open(retention: .seconds(365 * 86_400))
        #expect(store.problems.isEmpty)
        #expect(store.movedAside == nil)
        let after = try await store.database.read { [self] in try rows($0) }
        for (table, old) in before {
            let new = try #require(after[table], "\(table)")
            for row in old {
                let isThere = new.contains { candidate in row.allSatisfy { candidate[$0.key] == $0.value } }
                #expect(isThere, "\(table): \(row)")
            }
            // Later versions add rows only to tables of their own, to the list of migrations and to the state.
            if table != "grdb_migrations", table != "state" { #expect(new.count == old.count, "\(table)") }
        }
        let report = try await store.database.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
        #expect(report == "ok")
        #expect(try store.newestLocations(10).map(\.latitude) == [52.52, 52.5201, 52.5202])
        #expect(try store.queue().map(\.path) == ["/music/a b.mp3", "/music/ü.wav"])
        #expect(try await store.trips(since: nil, until: nil).count == (version < 2 ? 0 : 2))
        #expect(try store.unreadableItems() == (version < 3 ? [] : [4]))
        try store.close()
    }

    @Test func `a copy of the old version is kept until the new one has had no problems for a week`() async throws {
        let before = try makeDatabase(8)
        let copy = fixture.path + ".version-8"
        var store = try fixture.open(retention: .seconds(36_500 * 86_400))
        let old = try DatabaseQueue(path: copy)
        let copied = try await old.read { [self] in try rows($0) }
        #expect(copied == before)
        try old.close()
        #expect(try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions] as? Int == 0o600)
        try store.close()

        for (days, isKept) in [(0.0, true), (6.9, true), (7.1, false)] {
            store = try fixture.open(retention: .seconds(36_500 * 86_400), systemTime: at(days: days))
            try await store.save(.sample, durable: true)
            await store.retention.waitForPurge()
            #expect(FileManager.default.fileExists(atPath: copy) == isKept, "\(days)")
            try store.close()
        }
        // A file of the current version is not copied.
        store = try fixture.open()
        #expect(!FileManager.default.fileExists(atPath: copy))
        try store.close()
    }

    @Test func `a storage problem that is not acknowledged restarts the week`() async throws {
        _ = try makeDatabase(8)
        let copy = fixture.path + ".version-8"
        var store = try fixture.open(retention: .seconds(36_500 * 86_400), systemTime: at(days: 0))
        try await store.save(.sample, durable: true)
        await store.retention.waitForPurge()
        store.note(StorageFailure(.damaged, "the database is damaged"))
        // `note` returns before the incident is saved.
        var isNoted = false
        for _ in 0..<10_000 where !isNoted {
            let sql = "SELECT count(*) FROM state WHERE name = 'storage.incidents'"
            isNoted = try await store.database.read { try Int.fetchOne($0, sql: sql) } == 1
        }
        #expect(isNoted)
        try store.close()
        unlink(fixture.path + ".damaged")
        for (days, isKept) in [(8.0, true), (14.0, true), (15.1, true), (23.0, false)] {
            store = try fixture.open(retention: .seconds(36_500 * 86_400), systemTime: at(days: days))
            if days == 14 { try await store.acknowledgeIncidents() }
            if days == 8 { #expect(!store.problems.isEmpty) }
            try await store.save(.sample, durable: true)
            await store.retention.waitForPurge()
            #expect(FileManager.default.fileExists(atPath: copy) == isKept, "\(days)")
            try store.close()
        }
    }
}
