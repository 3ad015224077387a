import GRDB

extension DatabaseQueue {
    /// Commits once with a sync of the log, which also brings all earlier commits to the disk.
    ///
    /// In WAL mode SQLite syncs the log at a commit only if `synchronous` is FULL
    /// (https://sqlite.org/pragma.html#pragma_synchronous).
    func syncEverything() throws {
        try writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
            defer { try? database.execute(sql: "PRAGMA synchronous = NORMAL") }
            try database.execute(sql: "UPDATE sync SET count = count + 1")
        }
    }

    /// Writes the log into the database file, syncs the file and truncates the log.
    func checkpoint() throws {
        try writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    }
}
