package import BackgrounderAPI
import FoundationEssentials
import GRDB

/// How far an import is: what became of its points, and where those of its unfinished trip are.
package struct ImportSession: Sendable {
    /// Points that were new.
    package private(set) var stored = 0
    /// Points that were there before.
    package private(set) var known = 0
    /// Trips that were new or have changed.
    package private(set) var trips = 0

    /// Points of consecutive numbers and ids, all of them new or none.
    private struct Run {
        var number: Int
        var first: Int64
        var count: Int
        var isNew: Bool
    }

    /// The newest runs, oldest first.
    private var runs: [Run] = []
    private var count: Int { stored + known }
    /// The first point of the trip that was counted last.
    private var lastTrip: Int64?

    package init() {}

    fileprivate mutating func add(_ id: Int64, isNew: Bool) {
        if let last = runs.indices.last, runs[last].isNew == isNew, runs[last].first + Int64(runs[last].count) == id {
            runs[last].count += 1
        } else {
            runs.append(Run(number: count, first: id, count: 1, isNew: isNew))
        }
        if isNew { stored += 1 } else { known += 1 }
    }

    /// The ids of the points of `record`, in order, and how many of them are new.
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
    fileprivate mutating func keep(_ open: Int) {
        runs.removeFirst(runs.prefix { $0.number + $0.count <= count - open }.count)
    }
}

extension StateStore {
    /// Adds points of another origin to the history, those of them that are not there yet, and the `trips` that changed by them.
    ///
    /// Their ids are below 0, so that they are no part of the rolling track. What was imported before is recognised by time and
    /// place: importing again adds nothing, and completes an import that was cut off.
    ///
    /// - Parameter openPoints: how many of the newest points can still become part of a trip that changes.
    /// - Returns: `session` after it.
    package func importPoints(
        _ locations: [Location],
        trips: [TripRecord],
        openPoints: Int,
        into session: ImportSession
    ) async throws -> ImportSession {
        if locations.isEmpty, trips.isEmpty { return session }
        return try await write(durable: true) { database in
            var session = session
            let recorded = Date()
            let insertion = try LocationInsertion(database, recorded: recorded)
            var newest = try database.newestImportedID()
            var moment = Moment()
            for location in locations {
                try moment.move(to: location.timestamp.milliseconds, database)
                let place = Moment.Place(latitude: location.latitude, longitude: location.longitude)
                if let id = moment.ids[place] {
                    session.add(id, isNew: false)
                } else {
                    newest += 1
                    try insertion.insert(location, id: newest)
                    moment.ids[place] = newest
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
            session.keep(openPoints)
            return session
        }
    }
}

/// The points of one time that are in the history: to look for each point of a file alone would take for ever where all of them
/// state the same time.
private struct Moment {
    struct Place: Hashable {
        var latitude: Double
        var longitude: Double
    }

    private var time: Int64?
    /// The least id of each place.
    var ids: [Place: Int64] = [:]

    mutating func move(to time: Int64, _ database: Database) throws {
        guard time != self.time else { return }
        self.time = time
        ids = [:]
        let rows = try Row.fetchCursor(
            database.cachedStatement(
                sql: "SELECT id, latitude, longitude FROM location WHERE time = ? ORDER BY id DESC"
            ),
            arguments: [time]
        )
        while let row = try rows.next() {
            ids[Place(latitude: row["latitude"], longitude: row["longitude"])] = row["id"]
        }
    }
}

extension Database {
    /// Imported points have ids from here up to 0; the live ones follow.
    private static let lowestID: Int64 = -1 << 62

    fileprivate func newestImportedID() throws -> Int64 {
        try Int64.fetchOne(
            cachedStatement(sql: "SELECT id FROM location WHERE id < 0 ORDER BY id DESC LIMIT 1")
        ) ?? Self.lowestID - 1
    }

    /// - Returns: whether anything had to be written.
    fileprivate func saveImported(
        _ trip: Trip,
        points: [ClosedRange<Int64>],
        new: Int,
        _ recorded: Date
    ) throws -> Bool {
        // While only points that were there before have come, the trip is as it was; but an import that was cut off may have left
        // it longer than it is.
        if new == 0, trip.inProgress == true { return false }
        let stored = try Row.fetchOne(
            cachedStatement(sql: "SELECT id, ended, points FROM trip WHERE imported = 1 AND firstPoint = ?"),
            arguments: [points.first?.lowerBound]
        )
        if let stored {
            if stored["ended"] == trip.end.milliseconds, stored["points"] == trip.points { return false }
            // Through a coarser filter it has less of the same points, and would take the rest of them from the trip.
            if new == 0, try pointCount(ofTrip: stored["id"], until: trip.end) > trip.points { return false }
        } else if 2 * new <= trip.points {
            // Most of it is in the history by another way, as a trip of its own where it is one.
            return false
        }
        var trip = trip
        // A file does not go on.
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
