import BackgrounderAPI
import GRDB

extension Database {
    /// Calls `body` with each item in the order of the queue, and with its key. The items' positions are their indices.
    func queue(_ body: (PlayerItem, _ key: Int64) throws -> Void) throws {
        let rows = try Row.fetchCursor(
            self,
            sql: """
                SELECT id, path, title, artist, album, duration, sampleRate, channels, codec, position, priority
                FROM queueItem ORDER BY position
                """
        )
        var position = 0
        while let row = try rows.next() {
            let item = PlayerItem(
                id: row[0],
                position: position,
                path: row[1],
                title: row[2],
                artist: row[3],
                album: row[4],
                duration: row[5],
                sampleRate: row[6],
                channels: row[7],
                codec: row[8],
                priority: row[10] == 0 ? nil : row[10]
            )
            try body(item, row[9])
            position += 1
        }
    }
}
