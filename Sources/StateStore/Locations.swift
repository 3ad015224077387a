package import BackgrounderAPI
package import FoundationEssentials
import GRDB

extension StateStore {
    /// Appends `locations` to the history, and saves the `trips` that changed by them and `state` in the same transaction.
    package func append(
        _ locations: [Location],
        trips: [TripRecord] = [],
        state: StateRecord,
        durable: Bool
    ) async throws {
        try await write(durable: durable) { try $0.append(locations, trips: trips, state: state) }
    }

    /// As the other, on this thread, which waits for the disk; it must be none of the cooperative pool.
    package func append(
        _ locations: [Location],
        trips: [TripRecord] = [],
        state: StateRecord,
        durable: Bool
    ) throws {
        try write(durable: durable) { try $0.append(locations, trips: trips, state: state) }
    }

    /// The newest `count` points in the order in which they were accepted, without the imported.
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
        try Row.fetchAll(self, sql: "SELECT * FROM location WHERE id > 0 ORDER BY id DESC LIMIT ?", arguments: [count])
            .reversed().map { Location(row: $0) }
    }

    fileprivate func append(_ locations: [Location], trips: [TripRecord], state: StateRecord) throws {
        let recorded = Date()
        let insertion = try LocationInsertion(self, recorded: recorded)
        var newest = try newestID()
        for location in locations {
            newest += 1
            try insertion.insert(location, id: newest)
        }
        for record in trips {
            let points = newest - Int64(record.pointsAfterFirst)...newest - Int64(record.pointsAfterLast)
            try save(record.trip, points: [points], imported: false, recorded: recorded)
        }
        try save(state)
    }

    /// The id of the newest point that was not imported; 0 where there is none.
    fileprivate func newestID() throws -> Int64 {
        try Int64.fetchOne(
            cachedStatement(sql: "SELECT id FROM location WHERE id > 0 ORDER BY id DESC LIMIT 1")
        ) ?? 0
    }
}

extension Location {
    init(row: Row) {
        self.init(
            latitude: row["latitude"],
            longitude: row["longitude"],
            altitude: row["altitude"],
            horizontalAccuracy: row["horizontalAccuracy"],
            accuracySource: (row["accuracySource"] as String?).flatMap(AccuracySource.init),
            verticalAccuracy: row["verticalAccuracy"],
            speed: row["speed"],
            course: row["course"],
            timestamp: Date(milliseconds: row["time"]),
            mode: row["mode"],
            segmentStart: row["segmentStart"] ? true : nil
        )
    }
}

extension Date {
    /// Since 1970; what the tables hold.
    var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }

    init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}
