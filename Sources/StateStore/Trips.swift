package import BackgrounderAPI
package import FoundationEssentials
import GRDB

extension StateStore {
    /// The trips that overlap `since <= time < until`, oldest first.
    package func trips(since: Date?, until: Date?) async throws -> [Trip] {
        try await database.read { database in
            try Row.fetchAll(
                database.cachedStatement(
                    sql: "SELECT * FROM trip WHERE ended >= ? AND began < ? ORDER BY began, id"
                ),
                arguments: [since?.milliseconds ?? .min, until?.milliseconds ?? .max]
            ).map { Trip(row: $0, now: Date()) }
        }
    }

    /// The points of a trip with `since <= timestamp < until` in the order in which they were recorded, in pages as
    /// ``history(since:until:)``; `nil` where there is no such trip.
    package func history(
        ofTrip id: Int,
        since: Date?,
        until: Date?
    ) async throws -> AsyncThrowingStream<[Location], any Error>? {
        guard let runs = try await database.read({ try $0.points(ofTrip: id) }) else { return nil }
        let pages = TripPages(store: self, runs: runs, since: since, until: until)
        return AsyncThrowingStream { try await pages.next() }
    }
}

/// A place in the points of a trip, moved on a page at a time.
private actor TripPages {
    private static let pageSize = 1000
    private let store: StateStore
    private let since: Int64
    private let until: Int64
    /// What is left.
    private var runs: ArraySlice<ClosedRange<Int64>>

    init(store: StateStore, runs: [ClosedRange<Int64>], since: Date?, until: Date?) {
        self.store = store
        self.runs = runs[...]
        self.since = since?.milliseconds ?? .min
        self.until = until?.milliseconds ?? .max
    }

    func next() async throws -> [Location]? {
        while let run = runs.first {
            let (since, until) = (since, until)
            let rows = try await store.database.read { database in
                try Row.fetchAll(
                    database.cachedStatement(
                        sql: """
                            SELECT * FROM location WHERE id BETWEEN ? AND ? AND time >= ? AND time < ? ORDER BY id LIMIT ?
                            """
                    ),
                    arguments: [run.lowerBound, run.upperBound, since, until, Self.pageSize]
                ).map { (id: $0["id"] as Int64, location: Location(row: $0)) }
            }
            runs.removeFirst()
            if rows.count == Self.pageSize, let last = rows.last?.id, last < run.upperBound {
                runs = [last + 1...run.upperBound] + runs
            }
            if !rows.isEmpty { return rows.map(\.location) }
        }
        return nil
    }
}

extension Database {
    /// The ids of the points of a trip, in order; `nil` where there is no such trip.
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
        // An upsert would use up an id at each update.
        try cachedStatement(sql: "UPDATE trip SET (\(columns)) = (\(marks)) WHERE imported = ? AND firstPoint = ?")
            .execute(arguments: StatementArguments(values))
        guard changesCount == 0 else { return }
        try cachedStatement(sql: "INSERT INTO trip (\(columns), imported, firstPoint) VALUES (\(marks), ?, ?)")
            .execute(arguments: StatementArguments(values))
    }
}

extension Trip {
    /// After so many seconds without a point a trip is over, whatever comes: a later point begins a new one.
    private static let longestGap: Int64 = 600

    fileprivate init(row: Row, now: Date) {
        // Points that a file gave have other times, so that it is when they came that counts.
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
    /// Numbers as their bytes, the lowest first.
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
