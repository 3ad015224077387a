import GRDB

extension StateStore {
    /// The most stickers of all songs together.
    private static let mostStickers = 100_000

    /// Returns the stickers of the song at `path`, by name: all of them, or those named `name`.
    package func stickers(of path: String, named name: String?) async throws -> [String: String] {
        try await read { database in
            let rows = try Row.fetchAll(
                database.cachedStatement(
                    sql: "SELECT name, value FROM sticker WHERE path = ? AND name = ifnull(?, name)"
                ),
                arguments: [path, name]
            )
            return Dictionary(uniqueKeysWithValues: rows.map { ($0["name"], $0["value"]) })
        }
    }

    /// Returns the values of the stickers named `name` of all songs below `folder`, by path; "" is the music directory.
    package func stickers(named name: String, below folder: String) async throws -> [String: String] {
        // Texts are compared byte by byte; "0" is the character after "/".
        let range = folder.isEmpty ? ("", "\u{10FFFF}") : (folder + "/", folder + "0")
        return try await read { database in
            let rows = try Row.fetchAll(
                database.cachedStatement(
                    sql: "SELECT path, value FROM sticker WHERE path >= ? AND path < ? AND name = ?"
                ),
                arguments: [range.0, range.1, name]
            )
            return Dictionary(uniqueKeysWithValues: rows.map { ($0["path"], $0["value"]) })
        }
    }

    /// Sets a sticker of the song at `path`. The write is durable.
    ///
    /// - Returns: false if there are too many.
    package func setSticker(_ name: String, to value: String, of path: String) async throws -> Bool {
        try await write(durable: true) { database in
            let others = try Int.fetchOne(
                database.cachedStatement(sql: "SELECT count(*) FROM sticker WHERE NOT (path = ? AND name = ?)"),
                arguments: [path, name]
            )
            guard others ?? 0 < Self.mostStickers else { return false }
            try database.cachedStatement(
                sql: "INSERT INTO sticker VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value"
            ).execute(arguments: [path, name, value])
            return true
        }
    }

    /// Removes the stickers of the song at `path`: all of them, or those named `name`. The write is durable.
    ///
    /// - Returns: whether there were any.
    package func removeStickers(of path: String, named name: String?) async throws -> Bool {
        try await write(durable: true) { database in
            try database.cachedStatement(sql: "DELETE FROM sticker WHERE path = ? AND name = ifnull(?, name)")
                .execute(arguments: [path, name])
            return database.changesCount > 0
        }
    }
}
