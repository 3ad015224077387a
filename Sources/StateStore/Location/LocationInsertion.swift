import BackgrounderAPI
import FoundationEssentials
import GRDB
import GRDBSQLite

/// Inserts points with SQLite's C functions, because binding GRDB's arguments takes longer than the insertion itself.
///
/// Valid within one transaction, on GRDB's queue.
struct LocationInsertion {
    private let database: Database
    /// Keeps the statement's pointer alive.
    private let statement: Statement
    private let recorded: Int64?

    /// Prepares the statement.
    ///
    /// - Parameters:
    ///   - table: `location` or `recentLocation`.
    ///   - recorded: the time from which the points age if it is later than their own; `nil` if they age from their own time.
    init(_ database: Database, into table: String = "location", recorded: Date?) throws {
        self.database = database
        self.recorded = recorded?.milliseconds
        statement = try database.cachedStatement(
            sql: """
                INSERT INTO \(table) (id, recorded, time, latitude, longitude, altitude, horizontalAccuracy, accuracySource,
                    verticalAccuracy, speed, course, mode, segmentStart)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        )
    }

    /// Inserts `location` with this row id.
    ///
    /// - Throws: `DatabaseError`.
    func insert(_ location: Location, id: Int64) throws {
        let pointer = statement.sqliteStatement
        sqlite3_bind_int64(pointer, 1, id)
        sqlite3_bind_int64(pointer, 2, recorded ?? location.timestamp.milliseconds)
        sqlite3_bind_int64(pointer, 3, location.timestamp.milliseconds)
        sqlite3_bind_double(pointer, 4, location.latitude)
        sqlite3_bind_double(pointer, 5, location.longitude)
        bind(6, location.altitude)
        bind(7, location.horizontalAccuracy)
        bind(8, location.accuracySource)
        bind(9, location.verticalAccuracy)
        bind(10, location.speed)
        bind(11, location.course)
        sqlite3_bind_int64(pointer, 12, Int64(location.mode))
        sqlite3_bind_int64(pointer, 13, location.segmentStart == true ? 1 : 0)
        let code = sqlite3_step(pointer)
        // After a failed step this returns the same code again. It does not roll back the transaction.
        sqlite3_reset(pointer)
        guard code == SQLITE_DONE else {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code),
                message: sqlite3_errmsg(database.sqliteConnection).map { String(cString: $0) }
            )
        }
    }

    private func bind(_ index: Int32, _ value: Double?) {
        if let value {
            sqlite3_bind_double(statement.sqliteStatement, index, value)
        } else {
            sqlite3_bind_null(statement.sqliteStatement, index)
        }
    }

    private func bind(_ index: Int32, _ source: AccuracySource?) {
        guard let source else {
            sqlite3_bind_null(statement.sqliteStatement, index)
            return
        }
        // SQLITE_TRANSIENT: SQLite copies the text during the call.
        let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        sqlite3_bind_text(statement.sqliteStatement, index, source.rawValue, -1, copies)
    }
}
