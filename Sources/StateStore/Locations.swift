package import BackgrounderAPI
package import FoundationEssentials
import GRDB

extension StateStore {
    /// Appends `locations` to the history and saves `state` in the same transaction.
    package func append(_ locations: [Location], state: StateRecord, durable: Bool) async throws {
        try await write(durable: durable) { database in
            let recorded = Date()
            for location in locations { try database.insert(location, recorded: recorded) }
            try database.save(state)
        }
    }

    /// The newest `count` points in the order in which they were accepted.
    package func newestLocations(_ count: Int) throws -> [Location] {
        try database.read { try $0.newestLocations(count) }
    }

    /// The points with `since <= timestamp < until` in the order of their times, in pages, so that a long answer neither
    /// fills the memory nor holds up the writers.
    package func history(since: Date?, until: Date?) -> AsyncThrowingStream<[Location], any Error> {
        let pages = HistoryPages(store: self, since: since, until: until)
        return AsyncThrowingStream { try await pages.next() }
    }
}

/// A place in the history, moved on a page at a time.
private actor HistoryPages {
    private static let pageSize = 1000  // judgement: a page is read in about 2 ms
    private let store: StateStore
    private let until: Int64
    private var after: (time: Int64, id: Int64)
    private var isAtEnd = false

    init(store: StateStore, since: Date?, until: Date?) {
        self.store = store
        self.until = until.map(\.milliseconds) ?? .max
        after = (since.map { $0.milliseconds - 1 } ?? .min, .max)
    }

    func next() async throws -> [Location]? {
        guard !isAtEnd else { return nil }
        let (after, until) = (after, until)
        let rows = try await store.database.read { database in
            try Row.fetchAll(
                database.cachedStatement(
                    sql: """
                        SELECT * FROM location WHERE (time, id) > (?, ?) AND time < ? ORDER BY time, id LIMIT ?
                        """
                ),
                arguments: [after.time, after.id, until, Self.pageSize]
            ).map { (time: $0["time"] as Int64, id: $0["id"] as Int64, location: Location(row: $0)) }
        }
        isAtEnd = rows.count < Self.pageSize
        guard let last = rows.last else { return nil }
        self.after = (last.time, last.id)
        return rows.map(\.location)
    }
}

extension Database {
    func newestLocations(_ count: Int) throws -> [Location] {
        try Row.fetchAll(self, sql: "SELECT * FROM location ORDER BY id DESC LIMIT ?", arguments: [count])
            .reversed().map { Location(row: $0) }
    }

    fileprivate func insert(_ location: Location, recorded: Date) throws {
        let statement = try cachedStatement(
            sql: """
                INSERT INTO location (recorded, time, latitude, longitude, altitude, horizontalAccuracy, accuracySource,
                    verticalAccuracy, speed, course, mode, segmentStart)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        )
        try statement.execute(arguments: [
            recorded.milliseconds, location.timestamp.milliseconds, location.latitude, location.longitude,
            location.altitude, location.horizontalAccuracy, location.accuracySource?.rawValue,
            location.verticalAccuracy, location.speed, location.course, location.mode,
            location.segmentStart == true,
        ])
    }

    /// Deletes the oldest points, at most 10,000 at a time and never one of the newest 100.
    ///
    /// - Returns: how many there were.
    func purge(recordedBefore date: Date) throws -> Int {
        try execute(
            sql: """
                DELETE FROM location WHERE id IN (SELECT id FROM location ORDER BY id LIMIT 10000)
                    AND recorded < ? AND id <= (SELECT max(id) FROM location) - 100
                """,
            arguments: [date.milliseconds]
        )
        return changesCount
    }
}

extension Location {
    fileprivate init(row: Row) {
        self.init(
            latitude: row["latitude"],
            longitude: row["longitude"],
            altitude: row["altitude"],
            horizontalAccuracy: row["horizontalAccuracy"],
            accuracySource: (row["accuracySource"] as String?).flatMap(AccuracySource.init),
            verticalAccuracy: row["verticalAccuracy"],
            speed: row["speed"],
            course: row["course"],
            timestamp: Date(timeIntervalSince1970: Double(row["time"] as Int64) / 1000),
            mode: row["mode"],
            segmentStart: row["segmentStart"] ? true : nil
        )
    }
}

extension Date {
    fileprivate var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }
}
