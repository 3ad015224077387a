package import BackgrounderAPI
package import FoundationEssentials
import GRDB

extension StateStore {
    /// Returns the trips that overlap `since <= time < until`, oldest first.
    package func trips(since: Date?, until: Date?) async throws -> [Trip] {
        await settleRecentPoints()
        return try await read { database in
            try Row.fetchAll(
                database.cachedStatement(
                    sql: "SELECT * FROM trip WHERE ended >= ? AND began < ? ORDER BY began, id"
                ),
                arguments: [since?.milliseconds ?? .min, until?.milliseconds ?? .max]
            ).map { Trip(row: $0, now: Date()) }
        }
    }
}

extension Database {
    /// Returns the ids of the points of a trip, in order; `nil` if there is no such trip.
    func points(ofTrip id: Int) throws -> [ClosedRange<Int64>]? {
        try Row.fetchOne(
            cachedStatement(sql: "SELECT firstPoint, lastPoint, runs FROM trip WHERE id = ?"),
            arguments: [id]
        ).map(Self.points)
    }

    private static func points(_ row: Row) throws -> [ClosedRange<Int64>] {
        guard let runs = row["runs"] as String? else { return [row["firstPoint"]...row["lastPoint"]] }
        return try JSONDecoder().decode([[Int64]].self, from: Data(runs.utf8)).map { $0[0]...$0[1] }
    }

    /// Inserts `trip`, or updates the one with the same first point.
    func save(_ trip: Trip, points: [ClosedRange<Int64>], imported: Bool, recorded: Date) throws {
        guard let first = points.first, let last = points.last else { return }
        let runs =
            points.count == 1
            ? nil
            : String(decoding: try JSONEncoder().encode(points.map { [$0.lowerBound, $0.upperBound] }), as: UTF8.self)
        let values: [(any DatabaseValueConvertible)?] = [
            recorded.milliseconds, trip.start.milliseconds, trip.end.milliseconds, trip.inProgress == true,
            trip.distance, trip.movingTime, trip.topSpeed, trip.bounds.minLatitude, trip.bounds.minLongitude,
            trip.bounds.maxLatitude, trip.bounds.maxLongitude, trip.points, Data(speeds: trip.speeds),
            last.upperBound, runs, imported, first.lowerBound,
        ]
        let columns = """
            recorded, began, ended, isOpen, distance, movingTime, topSpeed, minLatitude, minLongitude, maxLatitude, \
            maxLongitude, points, speeds, lastPoint, runs
            """
        let marks = String(repeating: ", ?", count: 15).dropFirst(2)
        // An upsert would consume an id at each update.
        try cachedStatement(sql: "UPDATE trip SET (\(columns)) = (\(marks)) WHERE imported = ? AND firstPoint = ?")
            .execute(arguments: StatementArguments(values))
        guard changesCount == 0 else { return }
        try cachedStatement(sql: "INSERT INTO trip (\(columns), imported, firstPoint) VALUES (\(marks), ?, ?)")
            .execute(arguments: StatementArguments(values))
    }
}

extension Database {
    /// Returns the id of the newest trip of the history if it is in progress.
    func openTrip(now: Date) throws -> Int? {
        try Int.fetchOne(
            cachedStatement(
                sql: """
                    SELECT id FROM trip WHERE isOpen = 1 AND imported = 0 AND abs(? - recorded) <= ?
                    ORDER BY id DESC LIMIT 1
                    """
            ),
            arguments: [now.milliseconds, Trip.longestGap * 1000]
        )
    }
}

extension Trip {
    /// Seconds without a point after which a trip is over: any later point begins a new trip.
    fileprivate static let longestGap: Int64 = 600

    fileprivate init(row: Row, now: Date) {
        // The points of a replayed file have other times, so the time of recording counts.
        let isFresh = abs(now.milliseconds - (row["recorded"] as Int64)) <= Self.longestGap * 1000
        self.init(
            id: row["id"],
            start: Date(milliseconds: row["began"]),
            end: Date(milliseconds: row["ended"]),
            distance: row["distance"],
            movingTime: row["movingTime"],
            topSpeed: row["topSpeed"],
            bounds: GeographicBounds(
                minLatitude: row["minLatitude"],
                minLongitude: row["minLongitude"],
                maxLatitude: row["maxLatitude"],
                maxLongitude: row["maxLongitude"]
            ),
            points: row["points"],
            speeds: (row["speeds"] as Data).speeds,
            inProgress: row["isOpen"] && isFresh ? true : nil
        )
    }
}

extension Data {
    /// Encodes the numbers as little-endian IEEE 754 doubles.
    fileprivate init(speeds: [Double]) {
        self.init()
        for speed in speeds { Swift.withUnsafeBytes(of: speed.bitPattern.littleEndian) { append(contentsOf: $0) } }
    }

    fileprivate var speeds: [Double] {
        withUnsafeBytes { bytes in
            stride(from: 0, through: bytes.count - 8, by: 8).map {
                Double(bitPattern: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self)))
            }
        }
    }
}
