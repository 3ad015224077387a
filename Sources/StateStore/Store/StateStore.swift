package import BackgrounderAPI
import Dispatch
import FoundationEssentials
import GRDB
import Glibc
import Synchronization

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
    let movedAside: String?
    /// A file that marks the database as damaged: use of it met damage, and the next start sets it aside.
    private let marker: String
    let sync: SyncTimer
    let monitor: StorageMonitor
    let musicReader: ReadConnection
    let trackReader: ReadConnection
    /// Finds rows that damage hides from SQLite.
    let pages: DatabasePages
    let positionFile: PositionFile
    let retention: Retention
    /// The id that new points have to exceed.
    let idFloor: Atomic<Int64>
    /// Whether the next point begins a generation.
    let isGenerationDue: Atomic<Bool>
    let latestPoints = LatestPoints()
    /// The progress of publishers that is saved with the next points, by their names.
    let progress = Mutex<[String: PublishProgress]>([:])
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
        let marker = path + Self.markerSuffix
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
        trackReader = ReadConnection(path: path)
        pages = DatabasePages(path: path)
        self.marker = marker
        self.clock = clock
        self.retention = Retention(retention, maximumSize: maximumSize, clock: clock) { onEvent(.purged($0)) }
        let database = database
        // If damage hides it, the next start sets the database aside.
        idFloor = Atomic((try? database.read { try $0.idFloor }) ?? 0)
        isGenerationDue = Atomic((try? database.read { try $0.hasGenerations }) ?? false)
        let monitor = StorageMonitor(path: path, incidents: try Self.incidents(database, path, adding: incidents)) {
            onEvent(.health($0))
        }
        self.monitor = monitor
        sync = SyncTimer(interval: syncInterval) { [positionFile] in
            do {
                let isFailing = monitor.isFailing(.sync) || monitor.isFailing(.write)
                // Only a write shows whether a full disk has room again.
                if isFailing { try database.write { try $0.execute(sql: "UPDATE sync SET count = count + 1") } }
                try database.syncEverything()
                // After a failed sync the kernel may mark pages clean that never reached the disk. A checkpoint writes
                // them again, to the database file, and frees the log's space on a full disk.
                if isFailing { try database.checkpoint() }
                monitor.succeeded(.sync)
                monitor.succeeded(.write)
                // The position file can fail alone, and nothing else writes to it while no sound plays.
                if (try? positionFile.retry()) != nil { monitor.succeeded(.position) }
                return !monitor.isFailing(.write) && !monitor.isFailing(.position)
            } catch {
                monitor.failed(.sync, error)
                return false
            }
        }
    }

    /// The current problems of the storage, oldest first.
    package var problems: [StorageProblem] { monitor.problems }

    /// Bytes of the database's file and its log.
    package var fileSize: Int64 {
        ["", "-wal"].reduce(0) { sum, suffix in
            var file = stat()
            return stat(database.path + suffix, &file) == 0 ? sum + Int64(file.st_size) : sum
        }
    }

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
    ///
    /// - Parameter committed: called on the database's queue after the transaction, before anything else uses the database.
    @discardableResult func write<Result>(
        durable: Bool,
        _ body: (Database) throws -> Result,
        committed: (Database, Result) -> Void = { _, _ in }
    ) throws -> Result {
        let result: Result
        do {
            result = try database.writeWithoutTransaction { database in
                var result: Result?
                try database.inTransaction {
                    result = try body(database)
                    return .commit
                }
                guard let result else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
                committed(database, result)
                return result
            }
        } catch {
            throw noting(error, of: .write)
        }
        wrote(durable: durable)
        return result
    }

    /// Brings all commits to the disk now, even if the calling task is cancelled.
    ///
    /// - Throws: ``StorageFailure``
    func syncEverything() async throws {
        do {
            try await Task { [database] in
                try await database.writeWithoutTransaction { try $0.syncEverything() }
            }.value
        } catch {
            throw noting(error, of: .write)
        }
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

    /// Syncs pending writes and closes the database. Call nothing on the store afterwards.
    package func close() throws {
        retention.end()
        // If the disk does not take them, the next start finds them where they are.
        try? database.write { try $0.settleRecentPoints() }
        if sync.cancel() { try database.syncEverything() }
        try musicReader.close()
        try trackReader.close()
        try database.close()
    }

}

/// An event that a store reports on its own.
package enum StoreEvent: Sendable {
    /// A storage problem began or ended; the value lists all current problems.
    case health([StorageProblem])
    /// Points were deleted because of their age or the size of the file.
    case purged(Purge)
}
