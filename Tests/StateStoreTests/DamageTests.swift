import BackgrounderAPI
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StateStore

/// Opening files that are damaged or not ours.
@Suite struct DamageTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test func `a file that is not a database is moved aside unchanged and replaced by a new one`() async throws {
        let content = Array("This is no database. ".utf8) + (0..<20_000).map { UInt8(truncatingIfNeeded: $0) }
        try fixture.scratch.write(content, to: "backgrounder.sqlite")
        let store = try fixture.open()
        let aside = try #require(store.movedAside)
        #expect(aside.hasPrefix(fixture.path + ".corrupt-"))
        #expect(Array(try Data(contentsOf: URL(fileURLWithPath: aside))) == content)
        try store.append([.sample(0)], state: .sample, durable: true)
        try store.close()
        let again = try fixture.open()
        #expect(again.movedAside == nil)
        #expect(try again.newestLocations(1) == [.sample(0)])
        try again.close()
    }

    @Test func `a database with damaged pages is moved aside unchanged`() async throws {
        let store = try fixture.open()
        try store.append((0..<5000).map { .sample($0) }, state: .sample, durable: true)
        try store.close()
        var bytes = try fixture.bytes()
        for offset in 4096..<bytes.count { bytes[offset] = UInt8(truncatingIfNeeded: offset &* 31) }
        try bytes.write(to: URL(fileURLWithPath: fixture.path))
        let new = try fixture.open()
        let aside = try #require(new.movedAside)
        #expect(try Data(contentsOf: URL(fileURLWithPath: aside)) == bytes)
        #expect(try new.newestLocations(1).isEmpty)
        try new.close()
    }

    @Test func `a first commit that a kill interrupted is rolled back and the file is used`() async throws {
        // Until the file is in WAL mode SQLite uses a rollback journal. A leftover journal rules out read-only access.
        try await Tool.run(
            "python3",
            "-c",
            """
            import os, sqlite3, sys
            database = sqlite3.connect(sys.argv[1], isolation_level=None)
            database.execute("PRAGMA cache_size = 1")
            database.execute("CREATE TABLE leftover (text)")
            database.execute("BEGIN IMMEDIATE")
            for _ in range(500): database.execute("INSERT INTO leftover VALUES (?)", ("x" * 2000,))
            os._exit(0)
            """,
            fixture.path
        )
        try #require(try fixture.files().contains("backgrounder.sqlite-journal"))
        let store = try fixture.open()
        #expect(store.movedAside == nil)
        try store.append([.sample(0)], state: .sample, durable: true)
        try store.close()
    }

    @Test func `a database whose damage shows only in use is moved aside at the next start`() async throws {
        let store = try fixture.open()
        try store.append((0..<500).map { .sample($0) }, state: .sample, durable: true)
        let page = try await store.database.read {
            try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'locationTime'") ?? 0
        }
        try store.close()
        var bytes = try fixture.bytes()
        for offset in (page - 1) * 4096..<page * 4096 { bytes[offset] = 0xFF }
        try bytes.write(to: URL(fileURLWithPath: fixture.path))
        let damaged = try fixture.open()
        #expect(damaged.movedAside == nil)
        #expect(throws: StorageFailure.self) {
            try damaged.append((501..<540).map { .sample($0) }, state: .sample, durable: true)
        }
        try? damaged.close()
        let new = try fixture.open()
        #expect(new.movedAside != nil)
        try new.append([.sample(501)], state: .sample, durable: true)
        try new.close()
        let again = try fixture.open()
        #expect(again.movedAside == nil)
        try again.close()
    }

    @Test func `a second damaged file does not overwrite the first`() async throws {
        var asides: Set<String> = []
        for round in 0..<3 {
            try fixture.scratch.write(
                "damaged \(round) " + String(repeating: "x", count: 8192),
                to: "backgrounder.sqlite"
            )
            let store = try fixture.open()
            asides.insert(try #require(store.movedAside))
            try store.close()
        }
        #expect(asides.count == 3)
        #expect(asides.allSatisfy { FileManager.default.fileExists(atPath: $0) })
    }

    @Test func `the write-ahead log that a crash left is recovered`() async throws {
        let store = try fixture.open(syncInterval: .seconds(3600))
        let points = (0..<500).map { Location.sample($0) }
        for point in points { try store.append([point], state: .sample, durable: true) }
        // Copy the files as a crash leaves them; the shared memory does not survive a power loss.
        let crashed = try StoreFixture()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: fixture.path + suffix, toPath: crashed.path + suffix)
        }
        try store.close()
        let again = try crashed.open()
        #expect(again.movedAside == nil)
        #expect(try again.newestLocations(1000) == points)
        try again.close()
    }

    @Test func `an empty file becomes a new database`() throws {
        try fixture.scratch.write("", to: "backgrounder.sqlite")
        let store = try fixture.open()
        #expect(store.movedAside == nil)
        try store.close()
    }

    @Test func `a file of a later version is refused and left unchanged`() async throws {
        let store = try fixture.open()
        try store.append([.sample(0)], state: .sample, durable: true)
        try await store.database.write {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99 from the future')")
        }
        try store.close()
        let before = try fixture.bytes()
        let error = #expect(throws: StateStoreError.self) { try fixture.open() }
        guard case .newer(let path) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(path == fixture.path)
        #expect(try fixture.bytes() == before)
        // SQLite leaves an empty log after reading.
        #expect(
            try fixture.files().allSatisfy { name in
                try name == "backgrounder.sqlite" || name.hasSuffix("-shm")
                    || Data(contentsOf: URL(fileURLWithPath: fixture.scratch.file(name))).isEmpty
            }
        )
    }

    @Test func `a database of another program is refused and left unchanged`() throws {
        let other = try DatabaseQueue(path: fixture.path)
        try other.write {
            try $0.execute(sql: "CREATE TABLE location (name TEXT); INSERT INTO location VALUES ('Rome')")
        }
        try other.close()
        let error = #expect(throws: StateStoreError.self) { try fixture.open() }
        guard case .failed = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        let again = try DatabaseQueue(path: fixture.path)
        #expect(try again.read { try String.fetchOne($0, sql: "SELECT name FROM location") } == "Rome")
        try again.close()
    }

    @Test func `a missing folder is an error that names the path`() throws {
        let path = fixture.scratch.file("missing/backgrounder.sqlite")
        let error = #expect(throws: StateStoreError.self) {
            try StateStore(path: path, syncInterval: .seconds(1), retention: .seconds(1)) { _ in }
        }
        #expect(error?.description.contains(path) == true)
    }
}
