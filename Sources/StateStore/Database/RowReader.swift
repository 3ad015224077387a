import FoundationEssentials
import GRDB
import GRDBSQLite

/// The current row of a statement.
///
/// Reads columns with SQLite's C functions, because GRDB's rows take several times as long for a history of millions of points.
struct RowReader {
    private let statement: SQLiteStatement

    /// Calls `body` with each row of `statement`.
    ///
    /// - Throws: `DatabaseError`, or the error of `body`.
    static func forEachRow(
        of statement: Statement,
        _ arguments: StatementArguments,
        _ database: Database,
        _ body: (RowReader) throws -> Void
    ) throws {
        try statement.setArguments(arguments)
        let row = RowReader(statement: statement.sqliteStatement)
        defer { sqlite3_reset(row.statement) }
        while true {
            switch sqlite3_step(row.statement) {
            case SQLITE_ROW: try body(row)
            case SQLITE_DONE: return
            case let code:
                throw DatabaseError(
                    resultCode: ResultCode(rawValue: code),
                    message: sqlite3_errmsg(database.sqliteConnection).map { String(cString: $0) }
                )
            }
        }
    }

    /// Whether a column is NULL.
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

    /// The integer in a column; `nil` if it has another type.
    func integer(_ column: Int32) -> Int64? {
        sqlite3_column_type(statement, column) == SQLITE_INTEGER ? sqlite3_column_int64(statement, column) : nil
    }

    /// The number in a column; `nil` if it has another type.
    func number(_ column: Int32) -> Double? {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_FLOAT, SQLITE_INTEGER: sqlite3_column_double(statement, column)
        default: nil
        }
    }

    /// The text in a column; `nil` if it has another type.
    func text(_ column: Int32) -> String? {
        guard sqlite3_column_type(statement, column) == SQLITE_TEXT, let start = sqlite3_column_text(statement, column)
        else { return nil }
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// The values of all columns.
    var values: [DatabaseValue] {
        (0..<sqlite3_column_count(statement)).map { column in
            if let integer = integer(column) { return integer.databaseValue }
            if let number = number(column) { return number.databaseValue }
            if let text = text(column) { return text.databaseValue }
            return isNull(column) ? .null : blob(column).databaseValue
        }
    }

    private func blob(_ column: Int32) -> Data {
        guard let start = sqlite3_column_blob(statement, column) else { return Data() }
        return Data(bytes: start, count: Int(sqlite3_column_bytes(statement, column)))
    }
}
