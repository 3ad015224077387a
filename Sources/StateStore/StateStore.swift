package import BackgrounderAPI
import Dispatch
import FoundationEssentials
import GRDB
import Glibc

/// The persistent state of the service: one SQLite file with one writing connection.
///
/// A write is committed when its call returns, and survives the end of this process. Whether it survives a power cut
/// depends on its kind. After a *durable* write the file is synced within `syncInterval`, once for all pending writes.
/// Other writes never cause a sync; they reach the disk with the next durable one.
///
///     let store = try StateStore(path: "/var/lib/backgrounder/backgrounder.sqlite", syncInterval: .seconds(1))
///     try await store.save(StateRecord(name: "audio", value: data), durable: true)
///
/// All methods may be called from any thread; SQLite is only used on GRDB's serial queue.
package final class StateStore: Sendable {
    let database: DatabaseQueue
    /// The new path of an unreadable database that was set aside at this start; `nil` if the file was readable.
    package let movedAside: String?
    /// A file that marks the database as damaged: use of it met damage, and the next start sets it aside.
    private let marker: String
    private let sync: SyncTimer
    private let monitor: StorageMonitor
    let musicReader: ReadConnection
    /// Finds rows that damage hides from SQLite.
    let pages: DatabasePages
    let positionFile: PositionFile
    let retention: Retention
    /// The clock that decides the age of points.
    package let clock: TrustedClock

    /// Opens or creates the database at `path`. A file that SQLite cannot read is set aside, never deleted.
    ///
    /// - Parameters:
    ///   - retention: the age after which points are deleted.
    ///   - maximumSize: the size of the file, in bytes, above which the oldest points are deleted.
    ///   - clock: the clock that decides the age of points.
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
                // After a failed sync the kernel may mark pages clean that never reached the disk. A checkpoint writes
                // them again, to the database file, and frees the log's space on a full disk.
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

    /// The current problems of the storage, oldest first.
    package var problems: [StorageProblem] { monitor.problems }

    /// Returns once the database queue has run an empty read, whether or not the database can be read.
    package func answers() async {
        _ = try? await database.read { _ in }
    }

    /// Commits the writes of `body` in one transaction, even if the calling task is cancelled.
    ///
    /// - Throws: ``StorageFailure`` if the database cannot be written, or the error of `body`.
    func write<Result: Sendable>(
        durable: Bool,
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        let result: Result
        do {
            // GRDB does not write in a cancelled task. An unstructured task does not inherit the cancellation.
            result = try await Task { [database] in try await database.write(body) }.value
        } catch {
            throw noting(error, of: .write)
        }
        wrote(durable: durable)
        return result
    }

    /// Commits the writes of `body` like the asynchronous variant, but blocks the calling thread while the disk works.
    /// Do not call it on the cooperative thread pool.
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
    /// - Throws: ``StorageFailure`` if the database cannot be read, or the error of `body`.
    func read<Result: Sendable>(_ body: @escaping @Sendable (Database) throws -> Result) async throws -> Result {
        do {
            let result = try await database.read(body)
            monitor.succeeded(.read)
            return result
        } catch {
            throw noting(error, of: .read)
        }
    }

    /// Returns what `body` reads, like the asynchronous variant, but blocks the calling thread while the disk works. Do
    /// not call it on the cooperative thread pool.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        do {
            let result = try database.read(body)
            monitor.succeeded(.read)
            return result
        } catch {
            throw noting(error, of: .read)
        }
    }

    /// Returns `error` as a ``StorageFailure`` after reporting it, or unchanged if the storage is not its cause.
    ///
    /// Damage also creates the marker file, so that the next start sets the database aside.
    func noting(_ error: any Error, of operation: StorageMonitor.Operation) -> any Error {
        guard let failure = StorageFailure(error) else { return error }
        if failure.kind == .damaged { try? Data().write(to: URL(filePath: marker)) }
        if monitor.failed(operation, failure), !failure.kind.isPresent { saveIncidents() }
        // The timer detects when the disk works again, even if nothing else is written.
        if operation == .write { sync.somethingWaits(for: .seconds(1)) }
        return failure
    }

    /// Reports damage that a read met and worked around.
    func note(_ damage: StorageFailure) { _ = noting(damage, of: .read) }

    /// Clears the incidents: the reports of damaged and missing data.
    package func acknowledgeIncidents() async throws {
        monitor.acknowledge()
        try await save(StateRecord(name: Self.incidentState, value: Data("[]".utf8)), durable: true)
    }

    /// Saves the incidents in the database so that they survive a restart. A failed write is ignored: damage is found
    /// again.
    private func saveIncidents() {
        let incidents = monitor.incidents
        Task { [self] in
            guard let value = try? JSON.encode(incidents) else { return }
            try? await database.write { try $0.save(StateRecord(name: Self.incidentState, value: Data(value))) }
        }
    }

    private static let incidentState = "storage.incidents"

    /// Returns the saved incidents that were not acknowledged and the `new` ones, which are saved too.
    private static func incidents(
        _ database: DatabaseQueue,
        _ path: String,
        adding new: [StorageProblem]
    ) throws(StateStoreError) -> [StorageProblem] {
        do {
            let value = try database.read { database in
                try Data.fetchOne(database, sql: "SELECT value FROM state WHERE name = ?", arguments: [incidentState])
            }
            // Setting the database aside resolves the damage that was met in it.
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

    /// Whether the database is missing or empty although it existed before. The position file proves that: it is
    /// created after the database and set aside together with it.
    private static func isMissing(_ path: String) -> Bool {
        guard FileManager.default.fileExists(atPath: path + positionSuffix) else { return false }
        let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        return (size ?? 0) == 0
    }

    private static func missing(_ path: String) -> StorageProblem {
        StorageProblem(
            .missing,
            "\(path) is missing or empty, but a database existed before; a new one was created",
            hint: "restore a copy if you have one, then run `backgrounder doctor --acknowledge`",
            since: Date()
        )
    }

    private static func setAside(_ path: String, _ aside: String, _ salvage: Salvage) -> StorageProblem {
        StorageProblem(
            .setAside,
            "\(path) was damaged and was set aside as \(aside); \(salvage.summary)",
            hint: "check the disk and what is lost, then run `backgrounder doctor --acknowledge`; the old file is kept",
            since: Date()
        )
    }

    /// Saves `position` over the previous one. Blocks the calling thread while the disk works.
    ///
    /// - Throws: ``StateStoreError`` if the position file cannot be written.
    package func keep(_ position: PlayerPosition) throws(StateStoreError) {
        do {
            try positionFile.write(position)
            monitor.succeeded(.position)
        } catch {
            if case .failed(_, _, let code?) = error { monitor.failed(.position, StorageFailure(code: code)) }
            throw error
        }
    }

    /// Syncs pending writes and closes the database. Call nothing on the store afterwards.
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
        if let copy { try database.write { try $0.keep(copy) } }
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
    private static func probe(_ path: String) throws {
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

    /// The tables that are small enough to check at each start; together they take a few milliseconds.
    private static let checkedTables = [
        "state", "setting", "trip", "queueItem", "task", "taskHook", "fetchSource", "fetchRun", "fetchOpen",
        "transferSession", "transfer", "transferEvent", "push", "pushID", "pushMessage", "pushStart",
    ]

    private static let positionSuffix = "-position"

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
}

/// An event that a store reports on its own.
package enum StoreEvent: Sendable {
    /// A storage problem began or ended; the value lists all current problems.
    case health([StorageProblem])
    /// Points were deleted because of their age or the size of the file.
    case purged(Purge)
}

extension Error {
    fileprivate var isCorruption: Bool {
        guard let code = (self as? DatabaseError)?.resultCode else { return false }
        return code == .SQLITE_CORRUPT || code == .SQLITE_NOTADB
    }
}

extension DatabaseQueue {
    /// Commits once with a sync of the log, which also brings all earlier commits to the disk.
    ///
    /// In WAL mode SQLite syncs the log at a commit only if `synchronous` is FULL
    /// (https://sqlite.org/pragma.html#pragma_synchronous).
    fileprivate func syncEverything() throws {
        try writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
            defer { try? database.execute(sql: "PRAGMA synchronous = NORMAL") }
            try database.execute(sql: "UPDATE sync SET count = count + 1")
        }
    }

    /// Writes the log into the database file, syncs the file and truncates the log.
    fileprivate func checkpoint() throws {
        try writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    }
}
