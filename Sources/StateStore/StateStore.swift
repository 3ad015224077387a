package import BackgrounderAPI
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
    private let monitor: StorageMonitor
    let musicReader: ReadConnection
    /// For rows that damage hides from SQLite.
    let pages: DatabasePages
    let positionFile: PositionFile
    let retention: Retention
    /// Tells the age of what is kept.
    package let clock: TrustedClock

    /// Opens or creates the file at `path`; a file that SQLite cannot read is moved aside, never deleted.
    ///
    /// - Parameters:
    ///   - retention: age after which points are deleted.
    ///   - maximumSize: bytes of the file above which the oldest points are deleted.
    ///   - clock: tells the age of points.
    ///   - onEvent: called on no particular thread; must return immediately.
    package init(
        path: String,
        syncInterval: Duration,
        retention: Duration,
        maximumSize: Int? = nil,
        clock: TrustedClock = TrustedClock(),
        onEvent: @escaping @Sendable (StoreEvent) -> Void
    ) throws(StateStoreError) {
        var aside: String?
        var incidents: [StorageProblem] = []
        let marker = path + ".damaged"
        if Self.isMissing(path) { incidents.append(Self.missing(path)) }
        do {
            if FileManager.default.fileExists(atPath: marker) { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
            database = try Self.open(path)
        } catch let error where error.isCorruption {
            let old = try Self.moveAside(path, as: "corrupt") ?? path
            unlink(marker)
            let new: DatabaseQueue
            do {
                new = try Self.open(path)
            } catch {
                throw StateStoreError(opening: path, error)
            }
            incidents.append(Self.setAside(path, old, Salvage(from: old, into: new)))
            (database, aside) = (new, old)
        } catch {
            throw StateStoreError(opening: path, error)
        }
        positionFile = try PositionFile(path: path + Self.positionSuffix)
        movedAside = aside
        musicReader = ReadConnection(path: path)
        pages = DatabasePages(path: path)
        self.marker = marker
        self.clock = clock
        self.retention = Retention(retention, maximumSize: maximumSize, clock: clock) { onEvent(.purged($0)) }
        let database = database
        let monitor = StorageMonitor(path: path, incidents: try Self.incidents(database, path, adding: incidents)) {
            onEvent(.health($0))
        }
        self.monitor = monitor
        sync = SyncTimer(interval: syncInterval) {
            do {
                try database.syncEverything()
                // After a failed sync the kernel may take pages for clean that never reached the disk. A checkpoint writes them
                // once more, to another file, and gives the room of the log back to a full disk.
                if monitor.isFailing(.sync) || monitor.isFailing(.write) { try database.checkpoint() }
                monitor.succeeded(.sync)
                monitor.succeeded(.write)
                monitor.succeeded(.position)
                return !monitor.isFailing(.write)
            } catch {
                monitor.failed(.sync, error)
                return false
            }
        }
    }

    /// What is wrong with the storage, oldest first.
    package var problems: [StorageProblem] { monitor.problems }

    /// Returns when the queue of the database has its turn for this call, whether or not the database can be read.
    package func answers() async {
        _ = try? await database.read { _ in }
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
            throw noting(error, of: .write)
        }
        wrote(durable: durable)
        return result
    }

    /// As the other, on this thread, which waits for the disk; it must be none of the cooperative pool.
    func write<Result>(durable: Bool, _ body: (Database) throws -> Result) throws -> Result {
        let result: Result
        do {
            result = try database.write(body)
        } catch {
            throw noting(error, of: .write)
        }
        wrote(durable: durable)
        return result
    }

    private func wrote(durable: Bool) {
        monitor.succeeded(.write)
        guard durable else { return }
        sync.somethingWaits()
        retention.purgeIfDue(database) { [monitor] in monitor.problems.isEmpty }
    }

    /// Returns what `body` reads.
    ///
    /// - Throws: ``StorageFailure`` where the database cannot be read.
    func read<Result: Sendable>(_ body: @escaping @Sendable (Database) throws -> Result) async throws -> Result {
        do {
            let result = try await database.read(body)
            monitor.succeeded(.read)
            return result
        } catch {
            throw noting(error, of: .read)
        }
    }

    /// As the other, on this thread, which waits for the disk; it must not be one of the cooperative pool.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        do {
            let result = try database.read(body)
            monitor.succeeded(.read)
            return result
        } catch {
            throw noting(error, of: .read)
        }
    }

    /// Returns `error` as a ``StorageFailure`` where it is one, after it was reported, and the next start told of damage.
    func noting(_ error: any Error, of operation: StorageMonitor.Operation) -> any Error {
        guard let failure = StorageFailure(error) else { return error }
        if failure.kind == .damaged { try? Data().write(to: URL(filePath: marker)) }
        if monitor.failed(operation, failure), !failure.kind.isPresent { saveIncidents() }
        // Finds out when the disk works again, also where nothing else is written.
        if operation == .write { sync.somethingWaits(for: .seconds(1)) }
        return failure
    }

    /// Reports damage that was met while reading, and worked around.
    func note(_ damage: StorageFailure) { _ = noting(damage, of: .read) }

    /// Ends the report of what was found damaged or missing.
    package func acknowledgeIncidents() async throws {
        monitor.acknowledge()
        try await save(StateRecord(name: Self.incidentState, value: Data("[]".utf8)), durable: true)
    }

    /// Notes in the database what it cannot be asked after a restart. Without effect where it cannot be written: damage is found again.
    private func saveIncidents() {
        let incidents = monitor.incidents
        Task { [self] in
            guard let value = try? JSON.encode(incidents) else { return }
            try? await database.write { try $0.save(StateRecord(name: Self.incidentState, value: Data(value))) }
        }
    }

    private static let incidentState = "storage.incidents"

    /// Those that nobody has acknowledged, and `new` ones, which are noted.
    private static func incidents(
        _ database: DatabaseQueue,
        _ path: String,
        adding new: [StorageProblem]
    ) throws(StateStoreError) -> [StorageProblem] {
        do {
            let value = try database.read { database in
                try Data.fetchOne(database, sql: "SELECT value FROM state WHERE name = ?", arguments: [incidentState])
            }
            // The damage that was met in a database is dealt with once that is set aside.
            let known = (value.flatMap { try? JSON.decode([StorageProblem].self, from: $0) } ?? []).filter { problem in
                problem.kind != .damaged || new.isEmpty
            }
            guard !new.isEmpty else { return known }
            let all = known + new
            let record = StateRecord(name: incidentState, value: Data(try JSON.encode(all)))
            try database.write { try $0.save(record) }
            return all
        } catch {
            throw StateStoreError(opening: path, error)
        }
    }

    /// Whether there was a database once: the position file is made after it, and is set aside with it.
    private static func isMissing(_ path: String) -> Bool {
        guard FileManager.default.fileExists(atPath: path + positionSuffix) else { return false }
        let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        return (size ?? 0) == 0
    }

    private static func missing(_ path: String) -> StorageProblem {
        StorageProblem(
            .missing,
            "\(path) is missing or empty, although there was a database; a new one was started",
            hint: "bring back a copy if you have one, then `backgrounder doctor --acknowledge`",
            since: Date()
        )
    }

    private static func setAside(_ path: String, _ aside: String, _ salvage: Salvage) -> StorageProblem {
        StorageProblem(
            .setAside,
            "\(path) was damaged and is now \(aside); \(salvage.summary)",
            hint: "check the disk and what is missing, then `backgrounder doctor --acknowledge`; the old file is kept",
            since: Date()
        )
    }

    /// Keeps a position in the place of the one before, on this thread, which may wait for the disk.
    package func keep(_ position: PlayerPosition) throws(StateStoreError) {
        do {
            try positionFile.write(position)
            monitor.succeeded(.position)
        } catch {
            if case .failed(_, _, let code?) = error { monitor.failed(.position, StorageFailure(code: code)) }
            throw error
        }
    }

    /// Syncs what waits and closes the file. Nothing may be called after it.
    package func close() throws {
        retention.end()
        if sync.cancel() { try database.syncEverything() }
        try musicReader.close()
        try database.close()
    }

    static func open(_ path: String) throws -> DatabaseQueue {
        try probe(path)
        var configuration = Configuration()
        configuration.journalMode = .wal
        // Somebody who looks at the file with another program must not make a write fail.
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
        if let copy { try database.write { try $0.keep(copy) } }
        try database.writeWithoutTransaction { try $0.prepareForRelease() }
        try database.unsafeRead { try check($0) }
        return database
    }

    /// Looks for values that no write can have left, which would end the process where they are used.
    ///
    /// Not in ``probe(_:)``: SQLite ignores the constraints of a file that it opened for reading.
    private static func check(_ database: Database) throws {
        for table in checkedTables {
            let report = try String.fetchOne(database, sql: "PRAGMA quick_check(\(table))")
            guard report == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: report) }
        }
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

    /// The tables that are small enough to be checked at each start, in some milliseconds for all.
    private static let checkedTables = [
        "state", "setting", "trip", "queueItem", "task", "taskHook", "fetchSource", "fetchRun", "fetchOpen",
        "transferSession", "transfer", "transferEvent", "push", "pushID", "pushMessage", "pushStart",
    ]

    private static let positionSuffix = "-position"

    /// Renames the database, its log and its position, so that it can be looked at later.
    ///
    /// - Parameter kind: what the new name says of it.
    /// - Returns: the new path; `nil` where there was no database.
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
            throw StateStoreError.failed(path: path, reason: "it cannot be moved aside: \(error)")
        }
        return suffixes.contains("") ? aside : nil
    }
}

/// What a store reports by itself.
package enum StoreEvent: Sendable {
    /// A problem of the storage began or ended; these are all problems now.
    case health([StorageProblem])
    /// Points that were too old, or too many, were deleted.
    case purged(Purge)
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

    /// Writes the log into the file, syncs that and empties the log.
    fileprivate func checkpoint() throws {
        try writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    }
}
