import FoundationEssentials
import GRDB
import SystemSupport

extension StateStore {
    static func open(_ path: String) throws -> DatabaseQueue {
        try probe(path)
        var configuration = Configuration()
        configuration.journalMode = .wal
        // Another program that reads the file must not make a write fail.
        configuration.busyMode = .timeout(2)
        configuration.prepareDatabase { database in
            try database.execute(
                sql: """
                    PRAGMA auto_vacuum = INCREMENTAL;
                    PRAGMA secure_delete = ON;
                    PRAGMA synchronous = NORMAL;
                    PRAGMA wal_autocheckpoint = 4000;
                    PRAGMA trusted_schema = OFF;
                    """
            )
        }
        let database = try DatabaseQueue(path: path, configuration: configuration)
        let copy = try MigrationCopy.make(of: database, at: path)
        try Schema.migrator.migrate(database)
        if let copy { try database.write { try $0.save(copy) } }
        try database.writeWithoutTransaction { try $0.prepareForRelease() }
        try database.unsafeRead { try check($0) }
        return database
    }

    /// Checks the small tables for values that violate their constraints and would crash the process when used.
    ///
    /// Not part of ``probe(_:)``, because SQLite ignores the constraints of a file that it opened read-only.
    private static func check(_ database: Database) throws {
        for table in checkedTables {
            let report = try String.fetchOne(database, sql: "PRAGMA quick_check(\(table))")
            guard report == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: report) }
        }
    }

    /// Checks, without changing the file, that no later version wrote it and that the pages a start depends on are
    /// readable.
    ///
    /// The file is opened read-only, because GRDB writes to a database that it opens for writing.
    ///
    /// - Parameter more: further checks of a file with the tables of this version.
    private static func probe(_ path: String, _ more: (DatabaseQueue) throws -> Void = { _ in }) throws {
        let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        guard let size, size > 0 else { return }
        var configuration = Configuration()
        configuration.readonly = true
        let database: DatabaseQueue
        do {
            database = try DatabaseQueue(path: path, configuration: configuration)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_READONLY {
            // A process was killed during the first commit; opening the file for writing rolls it back.
            return
        }
        // Leaked on purpose: GRDB attaches a value to its dispatch queue, and a freed queue passes that value to
        // libdispatch's thread pool. Once used, the pool wakes up every second for as long as the process runs.
        _ = Unmanaged.passRetained(database)
        let migrator = Schema.migrator
        let isCurrent = try database.read { database in
            guard try !migrator.hasBeenSuperseded(database) else { throw StateStoreError.newer(path: path) }
            guard try migrator.hasCompletedMigrations(database) else { return false }
            _ = try database.newestLocations(100)
            _ = try Row.fetchAll(database, sql: "SELECT * FROM state")
            _ = try Row.fetchAll(database, sql: "SELECT * FROM setting")
            _ = try database.queue { _, _ in }
            _ = try Row.fetchAll(database, sql: "SELECT * FROM trip ORDER BY id DESC LIMIT 10")
            return true
        }
        if isCurrent { try more(database) }
        try database.close()
    }

    /// Returns why a start cannot use the database at `path` as it is; `nil` if it can, and for a path without a file.
    /// Reads the file without changing it, and blocks.
    package static func fault(at path: String) -> DatabaseFault? {
        if isMissing(path) { return .missing }
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        if FileManager.default.fileExists(atPath: path + markerSuffix) { return .damaged(reason: "a page is damaged") }
        do {
            try probe(path) { try $0.read { try check($0) } }
            return nil
        } catch let error where error.isCorruption {
            return .damaged(reason: (error as? DatabaseError)?.message ?? "\(error)")
        } catch {
            return .refused(StateStoreError(opening: path, error))
        }
    }

    /// The tables that are small enough to check at each start; together they take a few milliseconds.
    private static let checkedTables = [
        "recentLocation", "state", "setting", "trip", "queueItem", "task", "taskHook", "fetchSource", "fetchRun",
        "fetchOpen", "transferSession", "transfer", "transferEvent", "push", "pushID", "pushMessage", "pushStart",
    ]

    static let positionSuffix = "-position"
    /// The suffix of the file that marks a database as damaged.
    static let markerSuffix = ".damaged"

    /// Renames the database, its log and its position file, and keeps them for inspection.
    ///
    /// - Parameter kind: the word in the new name that says why, such as `corrupt`.
    /// - Returns: the new path; `nil` if there was no database.
    @discardableResult
    static func moveAside(_ path: String, as kind: String) throws(StateStoreError) -> String? {
        let stamp = ISO8601.string(Date()).filter { $0.isNumber || $0 == "T" }
        let aside = "\(path).\(kind)-\(stamp)"
        let suffixes = ["-wal", "-shm", positionSuffix, ""].filter { FileManager.default.fileExists(atPath: path + $0) }
        do {
            for suffix in suffixes {
                try FileManager.default.moveItem(atPath: path + suffix, toPath: aside + suffix)
            }
        } catch {
            throw StateStoreError.failed(path: path, reason: "cannot set it aside: \(error)")
        }
        return suffixes.contains("") ? aside : nil
    }

    /// Whether the database is missing or empty although it existed before. The position file proves that: it is
    /// created after the database and set aside together with it.
    static func isMissing(_ path: String) -> Bool {
        guard FileManager.default.fileExists(atPath: path + positionSuffix) else { return false }
        let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        return (size ?? 0) == 0
    }
}

/// Why a start cannot use a database as it is.
package enum DatabaseFault: Hashable, Sendable {
    /// It existed before, and is missing or empty. A start creates a new one.
    case missing
    /// A start moves the readable rows to a new file.
    case damaged(reason: String)
    /// A start fails.
    case refused(StateStoreError)
}

extension Error {
    var isCorruption: Bool {
        guard let code = (self as? DatabaseError)?.resultCode else { return false }
        return code == .SQLITE_CORRUPT || code == .SQLITE_NOTADB
    }
}
