import BackgrounderAPI
import FoundationEssentials
import GRDB

/// A point of the history, with its row id.
struct StoredPoint: Sendable {
    var id: Int64
    /// Milliseconds since 1970.
    var time: Int64
    var location: Location

    fileprivate static let table = "location"
    fileprivate static let columns = [
        "id", "time", "latitude", "longitude", "altitude", "horizontalAccuracy", "accuracySource", "verticalAccuracy",
        "speed", "course", "mode", "segmentStart",
    ]
    fileprivate static let scan = RowScan(table, columns: columns.joined(separator: ", "))

    /// Returns the first `limit` points that SQLite cannot find because a page above them is damaged, in the order of
    /// ids and without those whose values are impossible.
    ///
    /// - Returns: the points, and the id of the last examined row if there may be more.
    fileprivate static func hidden(
        _ ids: ClosedRange<Int64>,
        limit: Int,
        in file: PageFile,
        _ database: Database
    ) throws -> (points: [StoredPoint], last: Int64?) {
        guard let found = PageScan(file)?.rows(of: table, ids, limit: limit) else { return ([], nil) }
        let statement = try database.cachedStatement(
            sql: "SELECT \(columns.map { _ in "?" }.joined(separator: ", "))"
        )
        let points = try found.rows.compactMap { row in
            let values = found.table.values(columns, of: row)
            let row = try Row.fetchOne(statement, arguments: StatementArguments(values))
            return row.flatMap { try? StoredPoint(row: $0) }
        }
        return (points, found.last)
    }

    /// Decodes a row.
    ///
    /// - Throws: an error if damage left values that no point can have.
    fileprivate init(row: Row) throws {
        id = try row.decode(atIndex: 0)
        time = try row.decode(atIndex: 1)
        location = Location(
            latitude: try row.number(2) ?? .nan,
            longitude: try row.number(3) ?? .nan,
            altitude: try row.number(4),
            horizontalAccuracy: try row.number(5),
            accuracySource: try row.decode(String?.self, atIndex: 6).flatMap { AccuracySource(rawValue: $0) },
            verticalAccuracy: try row.number(7),
            speed: try row.number(8),
            course: try row.number(9),
            timestamp: Date(milliseconds: time),
            mode: try row.decode(atIndex: 10),
            segmentStart: try row.decode(Bool.self, atIndex: 11) ? true : nil
        )
        // No point has the largest id, so `id + 1` never overflows.
        guard abs(location.latitude) <= 90, abs(location.longitude) <= 180, id < .max else { throw ImpossiblePoint() }
    }
}

private struct ImpossiblePoint: Error {}

extension Row {
    /// Returns the number in a column; `nil` for NULL. SQLite itself would convert a text or blob to 0.
    fileprivate func number(_ index: Int) throws -> Double? {
        switch (self[index] as DatabaseValue).storage {
        case .null: nil
        case .double(let value): value
        case .int64(let value): Double(value)
        case .string, .blob: throw ImpossiblePoint()
        }
    }
}

extension StateStore {
    /// Returns the first `limit` readable points with these ids, in the order of ids. Damage is reported and skipped.
    func readablePoints(_ ids: ClosedRange<Int64>, limit: Int) async throws -> [StoredPoint] {
        var points: [StoredPoint] = []
        var next: Int64? = ids.lowerBound
        while let id = next, points.count < limit {
            let (range, rest) = (id...ids.upperBound, limit - points.count)
            // No transaction: SQLite refuses to commit one in which it met damage.
            let (portion, result) = try await database.writeWithoutTransaction { [pages] database in
                var portion: [StoredPoint] = []
                var result = try StoredPoint.scan.read(range, limit: rest, from: database) { row in
                    portion.append(try StoredPoint(row: row))
                }
                if let gap = result.gap, portion.count < rest, let file = pages.current() {
                    let room = rest - portion.count
                    let hidden = try StoredPoint.hidden(gap, limit: room, in: file, database)
                    portion += hidden.points
                    if let last = hidden.last { result.next = last < range.upperBound ? last + 1 : nil }
                }
                return (portion, result)
            }
            points += portion
            next = result.next
            if let damage = result.damage { note(damage) }
        }
        return points
    }
}

extension [StoredPoint] {
    /// Returns the locations; a point whose id does not follow the id of the point before it opens a segment.
    func locations(after last: StoredPoint?) -> [Location] {
        var before = last
        return map { point in
            defer { before = point }
            guard let before, before.id + 1 != point.id else { return point.location }
            var location = point.location
            location.segmentStart = true
            return location
        }
    }
}
