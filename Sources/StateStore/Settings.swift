import GRDB

/// A setting that a command changed, beside what the configuration said at that time: once the configuration says
/// something else, it wins again.
package struct Setting: Hashable, Sendable {
    package var key: String
    package var value: String
    /// `nil` where the configuration has no such key.
    package var configured: String?

    package init(key: String, value: String, configured: String?) {
        self.key = key
        self.value = value
        self.configured = configured
    }
}

extension StateStore {
    package func settings() throws -> [Setting] {
        try read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM setting ORDER BY key").map { row in
                Setting(key: row["key"], value: row["value"], configured: row["configured"])
            }
        }
    }

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

    package func removeSettings(_ keys: [String]) async throws {
        try await write(durable: true) { database in
            for key in keys { try database.execute(sql: "DELETE FROM setting WHERE key = ?", arguments: [key]) }
        }
    }
}
