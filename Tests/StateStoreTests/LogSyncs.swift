import GRDB
import GRDBSQLite
import Synchronization
import TestSupport

@testable import StateStore

/// Counts the syncs of a store's log and the commits since the last one, and lets syncs fail.
///
/// Replaces the function that SQLite and the store call for a sync.
final class LogSyncs: TransactionObserver, Sendable {
    private struct State {
        var syncs = 0
        var writesSinceSync = 0
        var fails = false
    }

    /// The functions of SQLite by the address of the file. A C function has no other way to find them.
    private static let files = Mutex<[UInt: (observer: LogSyncs, methods: sqlite3_io_methods)]>([:])

    let signal = Signal()
    private let state = Mutex(State())

    var count: Int { state.withLock { $0.syncs } }
    var writesSinceSync: Int { state.withLock { $0.writesSinceSync } }

    init(of store: StateStore) throws {
        try store.database.writeWithoutTransaction { database in
            var file: UnsafeMutablePointer<sqlite3_file>?
            sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file)
            guard let file, let methods = file.pointee.pMethods?.pointee else { throw NoLog() }
            Self.files.withLock { $0[UInt(bitPattern: file)] = (self, methods) }
            // Never freed: SQLite uses it until it closes the file.
            let changed = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
            changed.initialize(to: methods)
            changed.pointee.xSync = { file, flags in
                guard let (observer, methods) = LogSyncs.files.withLock({ $0[UInt(bitPattern: file)] }) else {
                    return SQLITE_IOERR
                }
                return observer.sync { methods.xSync(file, flags) }
            }
            file.pointee.pMethods = UnsafePointer(changed)
        }
        store.database.add(transactionObserver: self, extent: .databaseLifetime)
    }

    private struct NoLog: Error {}

    /// Lets the next syncs fail, or succeed again.
    func fail(_ fails: Bool) { state.withLock { $0.fails = fails } }

    private func sync(_ body: () -> Int32) -> Int32 {
        let fails = state.withLock { state in
            if !state.fails { (state.syncs, state.writesSinceSync) = (state.syncs + 1, 0) }
            return state.fails
        }
        signal.post()
        return fails ? SQLITE_IOERR_FSYNC : body()
    }

    func observes(eventsOfKind kind: DatabaseEventKind) -> Bool { true }

    func databaseDidChange(with event: DatabaseEvent) {}

    func databaseDidCommit(_ database: Database) { state.withLock { $0.writesSinceSync += 1 } }

    func databaseDidRollback(_ database: Database) {}
}

/// The extended result code, a macro that Swift does not import.
private let SQLITE_IOERR_FSYNC = SQLITE_IOERR | (4 << 8)
