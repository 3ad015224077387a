package import FoundationEssentials
import GRDB

/// The state that a mode restores after a restart, in the mode's own encoding.
package struct StateRecord: Sendable {
    var name: String
    var value: Data

    /// Creates a record; saving it replaces the one with the same name.
    package init(name: String, value: Data) {
        self.name = name
        self.value = value
    }
}

extension Database {
    func save(_ state: StateRecord) throws {
        try cachedStatement(
            sql: "INSERT INTO state VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        ).execute(arguments: [state.name, state.value])
    }
}
