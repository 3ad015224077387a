package import FoundationEssentials
import GRDB

/// The state that a mode restores after a restart, in the mode's own encoding.
package struct StateRecord: Sendable {
    package var name: String
    package var value: Data

    /// Creates a record; saving it replaces the one with the same name.
    package init(name: String, value: Data) {
        self.name = name
        self.value = value
    }
}

extension StateStore {
    /// Returns the value last saved under `name`; `nil` if there is none. Blocks the calling thread.
    package func state(_ name: String) throws -> Data? {
        try read { database in
            try Data.fetchOne(database, sql: "SELECT value FROM state WHERE name = ?", arguments: [name])
        }
    }

    /// Saves `state`, replacing the record with the same name.
    package func save(_ state: StateRecord, durable: Bool) async throws {
        try await write(durable: durable) { database in try database.save(state) }
    }
}

extension Database {
    func save(_ state: StateRecord) throws {
        try cachedStatement(
            sql: "INSERT INTO state VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        ).execute(arguments: [state.name, state.value])
    }
}
