package import BackgrounderAPI
import GRDB

extension StateStore {
    /// The queue in its order.
    package func queue() throws -> [PlayerItem] {
        try database.read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM queueItem ORDER BY position").enumerated().map {
                index,
                row in
                PlayerItem(
                    id: row["id"],
                    position: index,
                    path: row["path"],
                    title: row["title"],
                    artist: row["artist"],
                    album: row["album"],
                    duration: row["duration"],
                    sampleRate: row["sampleRate"],
                    channels: row["channels"],
                    codec: row["codec"]
                )
            }
        }
    }

    /// Makes the stored queue equal to `queue` and saves `state` in the same transaction; only rows that differ are written.
    package func save(queue: [PlayerItem], state: StateRecord) async throws {
        try await write(durable: true) { database in
            let stored = try Set(Int.fetchAll(database, sql: "SELECT id FROM queueItem"))
            for gone in stored.subtracting(queue.map(\.id)) {
                try database.cachedStatement(sql: "DELETE FROM queueItem WHERE id = ?").execute(arguments: [gone])
            }
            let upsert = try database.cachedStatement(
                sql: """
                    INSERT INTO queueItem VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    ON CONFLICT (id) DO UPDATE SET position = excluded.position, path = excluded.path,
                        title = excluded.title, artist = excluded.artist, album = excluded.album,
                        duration = excluded.duration, sampleRate = excluded.sampleRate,
                        channels = excluded.channels, codec = excluded.codec
                    WHERE (position, path, title, artist, album, duration, sampleRate, channels, codec) IS NOT
                        (excluded.position, excluded.path, excluded.title, excluded.artist, excluded.album,
                        excluded.duration, excluded.sampleRate, excluded.channels, excluded.codec)
                    """
            )
            for item in queue {
                try upsert.execute(arguments: [
                    item.id, item.position, item.path, item.title, item.artist, item.album, item.duration,
                    item.sampleRate, item.channels, item.codec,
                ])
            }
            try database.save(state)
        }
    }
}
