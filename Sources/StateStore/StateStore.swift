import BackgrounderAPI
import Dispatch
import FoundationEssentials
import GRDB
import Glibc

/// Everything that a restart must give back, in one SQLite file with one connection.
///
/// A write is committed when its call returns and survives the end of this process. Whether it survives the end of the
/// machine's power is the difference between the two kinds of writes: after a *durable* one the file is synced within
/// `syncInterval`, once for all that waits; the others are synced along with them, and alone never.
///
///     let store = try StateStore(path: "/var/lib/backgrounder/backgrounder.sqlite", syncInterval: .seconds(1))
///     try await store.save(StateRecord(name: "audio", value: data), durable: true)
///
/// All methods may be called from any thread; SQLite is only used on GRDB's serial queue.
package final class StateStore: Sendable {
    let database: DatabaseQueue
    /// Where the file went that could not be read, when there was one.
    package let movedAside: String?
    /// Its presence says that the file was found damaged while it was in use: the next start moves it aside.
    private let marker: String
    private let sync: SyncTimer
    let musicReader: ReadConnection
    let positionFile: PositionFile
    let retention: Retention

    /// Opens or creates the file at `path`; a file that SQLite cannot read is moved aside, never deleted.
    ///
    /// - Parameters:
    ///   - retention: age after which recorded points are deleted.
    ///   - onSyncFailure: called on a queue of its own when the disk refuses to sync.
    package init(
        path: String,
        syncInterval: Duration,
        retention: Duration,
        onSyncFailure: @escaping @Sendable (any Error) -> Void
    ) throws(StateStoreError) {
        var aside: String?
        let marker = path + ".damaged"
        do {
            if FileManager.default.fileExists(atPath: marker) { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
            database = try Self.open(path)
        } catch let error where error.isCorruption {
            aside = try Self.moveAside(path)
            unlink(marker)
            do {
                database = try Self.open(path)
            } catch {
                throw StateStoreError(opening: path, error)
            }
        } catch {
            throw StateStoreError(opening: path, error)
        }
        positionFile = try PositionFile(path: path + Self.positionSuffix)
        movedAside = aside
        musicReader = ReadConnection(path: path)
        self.marker = marker
        self.retention = Retention(retention)
        let database = database
        sync = SyncTimer(interval: syncInterval) {
            do {
                try database.syncEverything()
            } catch {
                onSyncFailure(error)
            }
        }
    }

    /// Commits what `body` writes in one transaction, also for a task that was cancelled: what happened has happened.
    func write<Result: Sendable>(
        durable: Bool,
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        let result: Result
        do {
            // GRDB gives up in a cancelled task; cancellation does not reach this one.
            result = try await Task { [database] in try await database.write(body) }.value
        } catch {
            throw noting(error)
        }
        if durable {
            sync.somethingWaits()
            retention.purgeIfDue(database)
        }
        return result
    }

    /// As the other, on this thread, which waits for the disk; it must be none of the cooperative pool.
    func write<Result>(durable: Bool, _ body: (Database) throws -> Result) throws -> Result {
        let result: Result
        do {
            result = try database.write(body)
        } catch {
            throw noting(error)
        }
        if durable {
            sync.somethingWaits()
            retention.purgeIfDue(database)
        }
        return result
    }

    /// `error`, after the next start was told of what it means.
    private func noting(_ error: any Error) -> any Error {
        if error.isCorruption { try? Data().write(to: URL(filePath: marker)) }
        return error
    }

    /// Syncs what waits and closes the file. Nothing may be called after it.
    package func close() throws {
        retention.end()
        if sync.cancel() { try database.syncEverything() }
        try musicReader.close()
        try database.close()
    }

    private static func open(_ path: String) throws -> DatabaseQueue {
        try probe(path)
        var configuration = Configuration()
        configuration.journalMode = .wal
        // Somebody who looks at the file with another program must not make a write fail.
        configuration.busyMode = .timeout(2)
        configuration.prepareDatabase { database in
            try database.execute(
                sql: """
                    PRAGMA synchronous = NORMAL;
                    PRAGMA wal_autocheckpoint = 4000;
                    PRAGMA trusted_schema = OFF;
                    """
            )
        }
        let database = try DatabaseQueue(path: path, configuration: configuration)
        try Schema.migrator.migrate(database)
        return database
    }

    /// Looks at the file without a change to it, since GRDB writes to what it opens for writing: it is not of a later version,
    /// and the pages that a start depends on can be read.
    private static func probe(_ path: String) throws {
        let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        guard let size, size > 0 else { return }
        var configuration = Configuration()
        configuration.readonly = true
        let database: DatabaseQueue
        do {
            database = try DatabaseQueue(path: path, configuration: configuration)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_READONLY {
            // Somebody was killed before the first commit was whole; opening the file for writing rolls that back.
            return
        }
        // Never freed: with GRDB's mark on it, a dispatch queue that goes hands that to libdispatch's pool of threads, and the pool,
        // once it was used, wakes up every second for ever.
        _ = Unmanaged.passRetained(database)
        let migrator = Schema.migrator
        try database.read { database in
            guard try !migrator.hasBeenSuperseded(database) else { throw StateStoreError.newer(path: path) }
            guard try migrator.hasCompletedMigrations(database) else { return }
            _ = try database.newestLocations(100)
            _ = try Row.fetchAll(database, sql: "SELECT * FROM state")
            _ = try Row.fetchAll(database, sql: "SELECT * FROM setting")
            _ = try database.queue { _, _ in }
            _ = try Row.fetchAll(database, sql: "SELECT * FROM trip ORDER BY id DESC LIMIT 10")
        }
        try database.close()
    }

    private static let positionSuffix = "-position"

    private static func moveAside(_ path: String) throws(StateStoreError) -> String {
        let stamp = ISO8601.string(Date()).filter { $0.isNumber || $0 == "T" }
        let aside = "\(path).corrupt-\(stamp)"
        do {
            for suffix in ["-wal", "-shm", positionSuffix, ""]
            where FileManager.default.fileExists(atPath: path + suffix) {
                try FileManager.default.moveItem(atPath: path + suffix, toPath: aside + suffix)
            }
        } catch {
            throw StateStoreError.failed(path: path, reason: "it is damaged and cannot be moved aside: \(error)")
        }
        return aside
    }
}

/// Why a store cannot be opened.
package enum StateStoreError: Error, CustomStringConvertible {
    /// A later version of Backgrounder wrote it; it was left as it is.
    case newer(path: String)
    case failed(path: String, reason: String)

    init(opening path: String, _ error: any Error) {
        switch error {
        case let error as StateStoreError: self = error
        case let error as DatabaseError:
            self = .failed(path: path, reason: error.message ?? "SQLite error \(error.resultCode.rawValue)")
        default: self = .failed(path: path, reason: String(describing: error))
        }
    }

    package var description: String {
        switch self {
        case .newer(let path):
            "\(path) was written by a later version of Backgrounder; install that version, or give another --home"
        case .failed(let path, let reason):
            "cannot open \(path): \(reason); check the folder's owner and mode and the free space"
        }
    }
}

extension Error {
    fileprivate var isCorruption: Bool {
        guard let code = (self as? DatabaseError)?.resultCode else { return false }
        return code == .SQLITE_CORRUPT || code == .SQLITE_NOTADB
    }
}

extension DatabaseQueue {
    /// One commit with a sync of the log, which brings all earlier commits to the disk with it.
    ///
    /// In WAL mode SQLite syncs the log at a commit only when `synchronous` is FULL (https://sqlite.org/pragma.html#pragma_synchronous).
    fileprivate func syncEverything() throws {
        try writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
            defer { try? database.execute(sql: "PRAGMA synchronous = NORMAL") }
            try database.execute(sql: "UPDATE sync SET count = count + 1")
        }
    }
}
