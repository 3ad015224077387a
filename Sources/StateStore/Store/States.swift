package import FoundationEssentials
import GRDB

extension StateStore {
    /// Returns the value last saved under `name`; `nil` if there is none. Blocks the calling thread.
    package func state(_ name: String) throws -> Data? {
        try read { database in
            try Data.fetchOne(database, sql: "SELECT value FROM state WHERE name = ?", arguments: [name])
        }
    }

    /// Removes the records with these names durably.
    package func removeStates(_ names: [String]) async throws {
        try await write(durable: true) { database in
            for name in names {
                try database.cachedStatement(sql: "DELETE FROM state WHERE name = ?").execute(arguments: [name])
            }
        }
    }

    /// Saves `state`, replacing the record with the same name.
    package func save(_ state: StateRecord, durable: Bool) async throws {
        try await write(durable: durable) { database in try database.save(state) }
    }
}
