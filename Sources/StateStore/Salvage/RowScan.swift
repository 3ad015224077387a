import BackgrounderAPI
import GRDB

/// Reads the rows of a table in the order of their row ids, and skips damage.
///
/// A damaged page costs the rows in it; the scan continues with the next readable row.
struct RowScan: Sendable {
    let table: String
    /// The columns to read, as an SQL list; the row id comes first.
    let columns: String

    init(_ table: String, columns: String) {
        self.table = table
        self.columns = columns
    }

    /// The result of one call.
    struct Result: Sendable {
        /// The id at which to continue; `nil` at the end.
        var next: Int64?
        var damage: StorageFailure?
        /// The range of ids that damage makes unreachable.
        var gap: ClosedRange<Int64>?
    }

    /// Calls `body` with the rows of these ids, up to damage or to `limit`. `body` throws if the values of a row are
    /// damaged.
    ///
    /// - Throws: a `DatabaseError` that is not damage.
    func read(
        _ ids: ClosedRange<Int64>,
        limit: Int,
        from database: Database,
        _ body: (RowReader) throws -> Void
    ) throws -> Result {
        var result = Result()
        var last: Int64?
        var count = 0
        do {
            let statement = try database.cachedStatement(
                sql: "SELECT \(columns) FROM \(table) WHERE rowid BETWEEN ? AND ? ORDER BY rowid LIMIT ?"
            )
            try RowReader.forEachRow(of: statement, [ids.lowerBound, ids.upperBound, limit], database) { row in
                last = row.integer(0)
                count += 1
                do {
                    try body(row)
                } catch {
                    result.damage = StorageFailure(.damaged, "the database is damaged")
                }
            }
            if count == limit, let last, last < ids.upperBound { result.next = last + 1 }
        } catch {
            guard let failure = StorageFailure(error), failure.kind == .damaged else { throw error }
            result.damage = failure
            guard last ?? .min < ids.upperBound else { return result }
            let start = last.map { $0 + 1 } ?? ids.lowerBound
            result.next = try firstReadableID(in: start...ids.upperBound, database)
            result.gap = start...(result.next.map { $0 - 1 } ?? ids.upperBound)
        }
        return result
    }

    /// Returns the lowest id of a readable row, given that the first one is not: a search with doubling steps, then by
    /// bisection.
    private func firstReadableID(in ids: ClosedRange<Int64>, _ database: Database) throws -> Int64? {
        var unreadable = ids.lowerBound
        var step: Int64 = 1
        while true {
            let (probe, overflow) = ids.lowerBound.addingReportingOverflow(step)
            guard !overflow, probe <= ids.upperBound, step < .max / 4 else { return nil }
            if case .readable(let found) = try look(probe...ids.upperBound, database) {
                guard var readable = found else { return nil }
                var end = probe
                while end - unreadable > 1 {
                    let middle = unreadable + (end - unreadable) / 2
                    if case .readable(let id?) = try look(middle...ids.upperBound, database) {
                        (end, readable) = (middle, id)
                    } else {
                        unreadable = middle
                    }
                }
                return readable
            }
            unreadable = probe
            step *= 2
        }
    }

    private enum Look {
        /// The lowest id; `nil` without rows.
        case readable(Int64?)
        case damaged
    }

    private func look(_ ids: ClosedRange<Int64>, _ database: Database) throws -> Look {
        do {
            let row = try Row.fetchOne(
                database.cachedStatement(
                    sql: "SELECT \(columns) FROM \(table) WHERE rowid BETWEEN ? AND ? ORDER BY rowid LIMIT 1"
                ),
                arguments: [ids.lowerBound, ids.upperBound]
            )
            return .readable(try row?.decode(Int64.self, atIndex: 0))
        } catch {
            guard StorageFailure(error)?.kind == .damaged else { throw error }
            return .damaged
        }
    }
}
