package import BackgrounderAPI
import FoundationEssentials
import GRDB

extension StateStore {
    /// Appends `locations` to the history, and saves the `trips` that they change and `state` in the same transaction.
    ///
    /// - Parameter origin: decides from when the points age; a receiver's points also set ``clock``.
    package func append(
        _ locations: [Location],
        from origin: LocationOrigin = .file,
        trips: [TripRecord] = [],
        state: StateRecord,
        durable: Bool
    ) async throws {
        try await write(durable: durable) { try $0.append(locations, from: origin, trips: trips, state: state) }
        received(locations, from: origin)
    }

    /// Appends `locations` like the asynchronous variant, but blocks the calling thread while the disk works. Do not
    /// call it on the cooperative thread pool.
    package func append(
        _ locations: [Location],
        from origin: LocationOrigin = .file,
        trips: [TripRecord] = [],
        state: StateRecord,
        durable: Bool
    ) throws {
        try write(durable: durable) { try $0.append(locations, from: origin, trips: trips, state: state) }
        received(locations, from: origin)
    }

    private func received(_ locations: [Location], from origin: LocationOrigin) {
        guard origin == .receiver, let newest = locations.last else { return }
        clock.receive(fixTime: newest.timestamp)
    }

    /// Returns the newest `count` points, in the order in which they were accepted and without imported points. Blocks
    /// the calling thread.
    package func newestLocations(_ count: Int) throws -> [Location] {
        try read { try $0.newestLocations(count) }
    }
}

/// The origin of points.
package enum LocationOrigin: Sendable {
    /// A receiver that has just delivered the fixes: their times are GPS time.
    case receiver
    /// A replayed file.
    case file
}

extension Database {
    func newestLocations(_ count: Int) throws -> [Location] {
        try Row.fetchAll(self, sql: "SELECT * FROM location WHERE id > 0 ORDER BY id DESC LIMIT ?", arguments: [count])
            .reversed().map { Location(row: $0) }
    }

    fileprivate func append(
        _ locations: [Location],
        from origin: LocationOrigin,
        trips: [TripRecord],
        state: StateRecord
    ) throws {
        let recorded = Date()
        let insertion = try LocationInsertion(self, recorded: origin == .receiver ? nil : recorded)
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

    /// Returns the id of the newest point that was not imported; 0 if there is none.
    func newestID() throws -> Int64 {
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
    /// Milliseconds since 1970, the unit of the tables.
    var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }

    init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}
