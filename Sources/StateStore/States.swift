package import FoundationEssentials
import GRDB

/// What a mode needs to go on after a restart, in its own encoding.
package struct StateRecord: Sendable {
    package var name: String
    package var value: Data

    package init(name: String, value: Data) {
        self.name = name
        self.value = value
    }
}

extension StateStore {
    /// The value that was last saved under `name`.
    package func state(_ name: String) throws -> Data? {
        try read { database in
            try Data.fetchOne(database, sql: "SELECT value FROM state WHERE name = ?", arguments: [name])
        }
    }

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
