import GRDB

/// A setting that a command changed, together with the configured value at that time. Once the configuration has
/// another value, the configuration wins again.
package struct Setting: Hashable, Sendable {
    package var key: String
    package var value: String
    /// The configured value; `nil` if the configuration did not have the key.
    package var configured: String?

    /// Creates a setting; saving it replaces the one with the same key.
    package init(key: String, value: String, configured: String?) {
        self.key = key
        self.value = value
        self.configured = configured
    }
}

extension StateStore {
    /// Returns all changed settings, by key. Blocks the calling thread.
    package func settings() throws -> [Setting] {
        try read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM setting ORDER BY key").map { row in
                Setting(key: row["key"], value: row["value"], configured: row["configured"])
            }
        }
    }

    /// Saves `settings` durably, replacing those with the same keys.
    package func save(_ settings: [Setting]) async throws {
        try await write(durable: true) { database in
            for setting in settings {
                try database.execute(
                    sql: """
                        INSERT INTO setting VALUES (?, ?, ?)
                        ON CONFLICT (key) DO UPDATE SET value = excluded.value, configured = excluded.configured
                        """,
                    arguments: [setting.key, setting.value, setting.configured]
                )
            }
        }
    }

    /// Deletes the settings with these keys durably.
    package func removeSettings(_ keys: [String]) async throws {
        try await write(durable: true) { database in
            for key in keys { try database.execute(sql: "DELETE FROM setting WHERE key = ?", arguments: [key]) }
        }
    }
}
