import BackgrounderAPI
import FoundationEssentials
import GRDB

extension StateStore {
    /// Moves the recent points to the history, before a read of the history. If the disk does not take them, the read lacks them, and
    /// the failure is reported like that of any write.
    ///
    /// - Returns: whether points were moved.
    @discardableResult
    func settleRecentPoints() async -> Bool {
        do {
            guard try await read({ try $0.hasRecentPoints }) else { return false }
            try await write(durable: false) { try $0.settleRecentPoints() }
            return true
        } catch {
            // Both have reported it.
            return false
        }
    }
}

/// The trip in progress. The history has an earlier state of it, or nothing yet.
private struct OpenTrip: Codable {
    static let record = "location.trip"

    var trip: Trip
    var points: ClosedRange<Int64>
    var recorded: Date
}

/// The newest points, which are in a small table of their own before they are moved to the history together.
///
/// SQLite writes whole pages. A point in the history changes four of them: its own, and those of the index of times, of its trip and of
/// the index of trips. Here, a point changes the page of this table. The trip in progress is beside the state of the mode, whose page
/// changes with each point anyway.
extension Database {
    // Tuned: a page of 4096 bytes holds 40 points.
    private static var recentLimit: Int { 32 }

    fileprivate var hasRecentPoints: Bool {
        get throws { try Bool.fetchOne(cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM recentLocation)")) ?? false }
    }

    /// Appends `locations`, which change `trips`, as stored at `recorded`. Returns the id of the first one, which is above `floor`.
    func append(
        _ locations: [Location],
        trips: [TripRecord],
        from origin: LocationOrigin,
        at recorded: Date,
        above floor: Int64
    ) throws -> Int64 {
        var newest = max(try newestID(), floor)
        let first = newest + 1
        let count = try Int.fetchOne(cachedStatement(sql: "SELECT count(*) FROM recentLocation")) ?? 0
        let isRecent = count + locations.count <= Self.recentLimit
        if !isRecent { try settleRecentPoints() }
        let insertion = try LocationInsertion(
            self,
            into: isRecent ? "recentLocation" : "location",
            recorded: origin.isTimed ? nil : recorded
        )
        for location in locations {
            newest += 1
            try insertion.insert(location, id: newest)
        }
        for record in trips {
            let points = newest - Int64(record.pointsAfterFirst)...newest - Int64(record.pointsAfterLast)
            if isRecent, record.trip.inProgress == true {
                let open = OpenTrip(trip: record.trip, points: points, recorded: recorded)
                try save(StateRecord(name: OpenTrip.record, value: try JSONEncoder().encode(open)))
            } else {
                // An earlier state of this trip must not replace this one.
                try deleteOpenTrip()
                try save(record.trip, points: [points], imported: false, recorded: recorded)
            }
        }
        return first
    }

    /// Moves the recent points and the trip in progress to the history.
    func settleRecentPoints() throws {
        guard try hasRecentPoints else { return }
        try cachedStatement(sql: "INSERT INTO location SELECT * FROM recentLocation ORDER BY id").execute()
        try cachedStatement(sql: "DELETE FROM recentLocation").execute()
        let value = try Data.fetchOne(
            cachedStatement(sql: "SELECT value FROM state WHERE name = ?"),
            arguments: [OpenTrip.record]
        )
        guard let value else { return }
        try deleteOpenTrip()
        // One that cannot be read is complete again with the next point.
        guard let open = try? JSONDecoder().decode(OpenTrip.self, from: value) else { return }
        try save(open.trip, points: [open.points], imported: false, recorded: open.recorded)
    }

    private func deleteOpenTrip() throws {
        try cachedStatement(sql: "DELETE FROM state WHERE name = ?").execute(arguments: [OpenTrip.record])
    }
}
