package import BackgrounderAPI
import FoundationEssentials
import GRDB

/// The progress of an import: the counts so far, and the ids of the points of the unfinished trip.
package struct ImportSession: Sendable {
    /// The number of new points.
    package private(set) var stored = 0
    /// The number of points that the history already had.
    package private(set) var known = 0
    /// The number of trips that are new or have changed.
    package private(set) var trips = 0

    /// Points with consecutive numbers in the file and consecutive ids, either all new or all known.
    private struct Run {
        var number: Int
        var first: Int64
        var count: Int
        var isNew: Bool
    }

    /// The newest runs, oldest first.
    private var runs: [Run] = []
    private var count: Int { stored + known }
    /// The id of the first point of the trip that was counted last.
    private var lastTrip: Int64?

    /// Creates the session of an import that has not begun.
    package init() {}

    fileprivate mutating func add(_ id: Int64, isNew: Bool) {
        if let last = runs.indices.last, runs[last].isNew == isNew, runs[last].first + Int64(runs[last].count) == id {
            runs[last].count += 1
        } else {
            runs.append(Run(number: count, first: id, count: 1, isNew: isNew))
        }
        if isNew { stored += 1 } else { known += 1 }
    }

    /// Returns the ids of the points of `record`, in order, and how many of them are new.
    fileprivate func points(of record: TripRecord) -> (ids: [ClosedRange<Int64>], new: Int) {
        let numbers = count - 1 - record.pointsAfterFirst...count - 1 - record.pointsAfterLast
        var ids: [ClosedRange<Int64>] = []
        var new = 0
        for run in runs where run.number <= numbers.upperBound && run.number + run.count > numbers.lowerBound {
            let first = run.first + Int64(max(0, numbers.lowerBound - run.number))
            let last = run.first + Int64(min(run.count - 1, numbers.upperBound - run.number))
            if run.isNew { new += Int(last - first) + 1 }
            if let before = ids.last, before.upperBound + 1 == first {
                ids[ids.count - 1] = before.lowerBound...last
            } else {
                ids.append(first...last)
            }
        }
        return (ids, new)
    }

    fileprivate mutating func countTrip(from first: Int64) {
        if lastTrip != first { trips += 1 }
        lastTrip = first
    }

    /// Forgets all but the newest `open` points.
    fileprivate mutating func forget(allBut open: Int) {
        runs.removeFirst(runs.prefix { $0.number + $0.count <= count - open }.count)
    }
}

extension StateStore {
    /// Adds points of another origin to the history, except those it already has, and saves the `trips` that they
    /// change. The write is durable.
    ///
    /// Imported points have ids below 0 and are not part of the rolling track. Known points are recognised by time and
    /// place, so importing a file again adds nothing, or completes an interrupted import.
    ///
    /// - Parameter openPoints: how many of the newest points can still become part of a trip that changes.
    /// - Returns: the session after this portion.
    package func importPoints(
        _ locations: [Location],
        trips: [TripRecord],
        openPoints: Int,
        into session: ImportSession
    ) async throws -> ImportSession {
        if locations.isEmpty, trips.isEmpty { return session }
        return try await write(durable: true) { database in
            try database.settleRecentPoints()
            var session = session
            let recorded = Date()
            let insertion = try LocationInsertion(database, recorded: recorded)
            var newest = try database.newestImportedID()
            var known = try KnownPoints(locations, database)
            for location in locations {
                if let id = try known.id(of: location, or: newest + 1) {
                    session.add(id, isNew: false)
                } else {
                    newest += 1
                    try insertion.insert(location, id: newest)
                    session.add(newest, isNew: true)
                }
            }
            for record in trips {
                let points = session.points(of: record)
                if try database.saveImported(record.trip, points: points.ids, new: points.new, recorded),
                    let first = points.ids.first
                {
                    session.countTrip(from: first.lowerBound)
                }
            }
            session.forget(allBut: openPoints)
            return session
        }
    }
}

/// The points that the history has at the times of a portion of an import.
///
/// Without this cache, importing a file whose points all have the same time would take quadratic time.
private struct KnownPoints {
    private struct Place: Hashable {
        var latitude: Double
        var longitude: Double
    }

    private let database: Database
    private let statement: Statement
    /// Whether the history had no point from the first to the last of these times. Then nothing has to be looked up.
    private let isNewTime: Bool
    /// The lowest id at each place, by time.
    private var ids: [Int64: [Place: Int64]] = [:]

    init(_ locations: [Location], _ database: Database) throws {
        self.database = database
        statement = try database.cachedStatement(
            sql: "SELECT id, latitude, longitude FROM location WHERE time = ? ORDER BY id DESC"
        )
        let times = locations.map(\.timestamp.milliseconds)
        isNewTime =
            try Int64.fetchOne(
                database.cachedStatement(sql: "SELECT id FROM location WHERE time BETWEEN ? AND ? LIMIT 1"),
                arguments: [times.min() ?? 0, times.max() ?? 0]
            ) == nil
    }

    /// Returns the id of the point at the time and place of `location`; if there is none, `nil`, and the point gets the id `new`.
    mutating func id(of location: Location, or new: Int64) throws -> Int64? {
        let time = location.timestamp.milliseconds
        let place = Place(latitude: location.latitude, longitude: location.longitude)
        if !isNewTime, ids[time] == nil {
            var found: [Place: Int64] = [:]
            try RowReader.forEachRow(of: statement, [time], database) { row in
                guard let id = row.integer(0), let latitude = row.number(1), let longitude = row.number(2) else {
                    return
                }
                found[Place(latitude: latitude, longitude: longitude)] = id
            }
            ids[time] = found
        }
        if let id = ids[time]?[place] { return id }
        ids[time, default: [:]][place] = new
        return nil
    }
}

extension Database {
    /// The id of the first imported point; imported ids count up from here and stay below 0.
    private static let lowestID: Int64 = -1 << 62

    fileprivate func newestImportedID() throws -> Int64 {
        try Int64.fetchOne(
            cachedStatement(sql: "SELECT id FROM location WHERE id < 0 ORDER BY id DESC LIMIT 1")
        ) ?? Self.lowestID - 1
    }

    /// Saves an imported trip, unless the history already has it.
    ///
    /// - Parameter new: how many of its points are new.
    /// - Returns: whether the trip was written.
    fileprivate func saveImported(
        _ trip: Trip,
        points: [ClosedRange<Int64>],
        new: Int,
        _ recorded: Date
    ) throws -> Bool {
        // With only known points so far, the trip is unchanged, and an interrupted import may have stored more of it
        // already.
        if new == 0, trip.inProgress == true { return false }
        let stored = try Row.fetchOne(
            cachedStatement(sql: "SELECT id, ended, points FROM trip WHERE imported = 1 AND firstPoint = ?"),
            arguments: [points.first?.lowerBound]
        )
        if let stored {
            if stored["ended"] == trip.end.milliseconds, stored["points"] == trip.points { return false }
            // A coarser filter accepts fewer of the same points; saving would remove the others from the trip.
            if new == 0, try pointCount(ofTrip: stored["id"], until: trip.end) > trip.points { return false }
        } else if 2 * new <= trip.points {
            // Most of its points came into the history another way, and form a trip there if they are one.
            return false
        }
        var trip = trip
        // No further points follow the end of a file.
        trip.inProgress = nil
        try save(trip, points: points, imported: true, recorded: recorded)
        return true
    }

    private func pointCount(ofTrip id: Int, until end: Date) throws -> Int {
        try (points(ofTrip: id) ?? []).reduce(0) { count, ids in
            try count
                + (Int.fetchOne(
                    cachedStatement(sql: "SELECT count(*) FROM location WHERE id BETWEEN ? AND ? AND time <= ?"),
                    arguments: [ids.lowerBound, ids.upperBound, end.milliseconds]
                ) ?? 0)
        }
    }
}
