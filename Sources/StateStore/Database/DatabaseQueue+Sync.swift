import GRDB
import GRDBSQLite

extension Database {
    /// Syncs the log, which brings all commits to the disk. Not in a transaction.
    ///
    /// With `synchronous = NORMAL`, SQLite does not sync the log at a commit (https://sqlite.org/pragma.html#pragma_synchronous). A
    /// commit with `FULL` syncs everything, too, but writes a page for it.
    func syncEverything() throws {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let found = sqlite3_file_control(sqliteConnection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file)
        guard found == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: found)) }
        // SQLite opens the log at the first transaction.
        guard let file, let methods = file.pointee.pMethods else { return }
        let code = methods.pointee.xSync(file, SQLITE_SYNC_NORMAL)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}

extension DatabaseQueue {
    /// Syncs the log, which brings all commits to the disk. Blocks the calling thread.
    func syncEverything() throws { try writeWithoutTransaction { try $0.syncEverything() } }

    /// Writes the log into the database file, syncs the file and truncates the log.
    func checkpoint() throws {
        try writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    }
}
