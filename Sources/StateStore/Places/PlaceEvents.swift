package import BackgrounderAPI
package import FoundationEssentials
import GRDB

/// The table of the events at places.
extension StateStore {
    /// The number of events that are kept. Tuned: years of a vehicle that passes 100 stops a day, and 20 MB.
    private static let mostEvents = 100_000

    /// Stores events durably, together with the firings of rules and the state after them. Blocks the calling thread.
    ///
    /// - Parameters:
    ///   - firings: replace those of the same rules at the same places.
    ///   - obsolete: the rules and places of firings to remove.
    ///   - states: replace those of the same names.
    /// - Returns: the events with their ids.
    package func append(
        _ events: [PlaceEvent],
        firings: [RuleFiring] = [],
        obsolete: [(rule: String, placeId: Int)] = [],
        states: [StateRecord]
    ) throws -> [PlaceEvent] {
        try write(durable: true) { database in
            var stored = events
            for index in stored.indices { stored[index].id = try database.insert(stored[index]) }
            for firing in firings { try database.save(firing) }
            for (rule, place) in obsolete {
                try database.cachedStatement(sql: "DELETE FROM placeFiring WHERE rule = ? AND placeId = ?")
                    .execute(arguments: [rule, place])
            }
            if let last = stored.last?.id {
                try database.cachedStatement(sql: "DELETE FROM placeEvent WHERE id <= ?")
                    .execute(arguments: [last - Self.mostEvents])
            }
            for state in states { try database.save(state) }
            return stored
        }
    }

    /// Stores what became of the actions of an event, durably.
    package func save(_ actions: [PlaceAction], ofEvent id: Int) async throws {
        try await write(durable: true) { database in
            let text = String(decoding: try JSONEncoder().encode(actions), as: UTF8.self)
            try database.execute(sql: "UPDATE placeEvent SET actions = ? WHERE id = ?", arguments: [text, id])
        }
    }

    /// Returns the newest `count` events, oldest first; those of a place with this name, from `since` and before `until`, if these are
    /// given.
    package func placeEvents(
        count: Int,
        since: Date? = nil,
        until: Date? = nil,
        place: String? = nil
    ) async throws -> [PlaceEvent] {
        try await read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM placeEvent WHERE (?1 IS NULL OR timestamp >= ?1) AND (?2 IS NULL OR timestamp < ?2)
                        AND (?3 IS NULL OR place = ?3)
                    ORDER BY id DESC LIMIT ?4
                    """,
                arguments: [since?.milliseconds, until?.milliseconds, place, count]
            )
            return try rows.reversed().map { try PlaceEvent(row: $0) }
        }
    }
}

extension Database {
    /// Returns the id.
    fileprivate func insert(_ event: PlaceEvent) throws -> Int {
        try cachedStatement(
            sql: """
                INSERT INTO placeEvent (placeId, place, event, timestamp, latitude, longitude, accuracy, distance,
                    probability, eta, estimated, initial, tripId, actions, simulated)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(
            arguments: [
                event.placeId, event.place, event.event.rawValue, event.timestamp.milliseconds, event.latitude,
                event.longitude, event.accuracy, event.distance, event.probability, event.eta, event.estimated,
                event.initial, event.tripId, String(decoding: try JSONEncoder().encode(event.actions), as: UTF8.self),
                event.simulated,
            ]
        )
        return Int(lastInsertedRowID)
    }
}

extension PlaceEvent {
    fileprivate init(row: Row) throws {
        let actions: String = row["actions"]
        self.init(
            id: row["id"],
            placeId: row["placeId"],
            place: row["place"],
            event: PlaceEventKind(rawValue: row["event"]) ?? .enter,
            timestamp: Date(milliseconds: row["timestamp"]),
            latitude: row["latitude"],
            longitude: row["longitude"],
            accuracy: row["accuracy"],
            distance: row["distance"],
            probability: row["probability"],
            eta: row["eta"],
            estimated: row["estimated"],
            initial: row["initial"],
            simulated: row["simulated"],
            tripId: row["tripId"],
            actions: try JSONDecoder().decode([PlaceAction].self, from: Data(actions.utf8))
        )
    }
}
