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
        var points: [StoredPoint] = []
        for row in found.rows {
            let values = found.table.values(columns, of: row)
            try RowReader.forEachRow(of: statement, StatementArguments(values), database) { row in
                if let point = try? StoredPoint(row: row) { points.append(point) }
            }
        }
        return (points, found.last)
    }

    /// Decodes a row.
    ///
    /// - Throws: an error if damage left values that no point can have.
    fileprivate init(row: RowReader) throws(ImpossiblePoint) {
        // No point has the largest id, so `id + 1` never overflows.
        guard let id = row.integer(0), id < .max, let time = row.integer(1), let latitude = row.number(2),
            abs(latitude) <= 90, let longitude = row.number(3), abs(longitude) <= 180, let mode = row.integer(10),
            let segmentStart = row.integer(11)
        else { throw ImpossiblePoint() }
        (self.id, self.time) = (id, time)
        location = Location(
            latitude: latitude,
            longitude: longitude,
            altitude: try Self.number(row, 4),
            horizontalAccuracy: try Self.number(row, 5),
            accuracySource: row.text(6).flatMap { AccuracySource(rawValue: $0) },
            verticalAccuracy: try Self.number(row, 7),
            speed: try Self.number(row, 8),
            course: try Self.number(row, 9),
            timestamp: Date(milliseconds: time),
            mode: Int(mode),
            segmentStart: segmentStart != 0 ? true : nil
        )
    }

    /// Returns the number in a column; `nil` for NULL. SQLite itself would convert a text or blob to 0.
    private static func number(_ row: RowReader, _ column: Int32) throws(ImpossiblePoint) -> Double? {
        if let number = row.number(column) { return number }
        guard row.isNull(column) else { throw ImpossiblePoint() }
        return nil
    }
}

private struct ImpossiblePoint: Error {}

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
