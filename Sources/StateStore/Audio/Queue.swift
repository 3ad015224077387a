package import BackgrounderAPI
import GRDB

/// The queue, one row per item. The column `position` is a sort key, not an index. Keys are far apart, so that
/// inserting, moving or removing an item writes only its own row.
extension StateStore {
    /// Returns the queue in its order. Blocks the calling thread.
    package func queue() throws -> [PlayerItem] {
        try read { database in
            var items: [PlayerItem] = []
            items.reserveCapacity(try Int.fetchOne(database, sql: "SELECT count(*) FROM queueItem") ?? 0)
            try database.queue { item, _ in items.append(item) }
            return items
        }
    }

    /// Returns the ids of the items without readable content. Blocks the calling thread.
    package func unreadableItems() throws -> Set<Int> {
        try read { try Int.fetchSet($0, sql: "SELECT id FROM queueItem WHERE unreadable") }
    }

    /// Applies `changes` in their order, and saves `state` in the same transaction. The write is durable unless the
    /// changes only describe the content of items and the state is not new.
    package func save(_ changes: [QueueChange], state: StateRecord, isStateNew: Bool = true) async throws {
        // Descriptions can be read from the files again.
        let isDurable = changes.contains { change in
            switch change {
            case .inserted, .moved, .removed, .replaced, .prioritised: true
            case .described, .unreadable: false
            }
        }
        try await write(durable: isDurable || isStateNew) { database in
            for change in changes { try database.apply(change) }
            try database.save(state)
        }
    }
}

/// The keys that sort the queue.
private enum QueueKey {
    /// The distance between neighbours: room to insert 40 items, one by one, between the same two.
    static let gap: Int64 = 1 << 40
    /// The key of the first item of a new queue: two million items fit before it, and six million after it.
    static let first: Int64 = 1 << 61
}

extension Database {
    fileprivate func apply(_ change: QueueChange) throws {
        switch change {
        case .inserted(let items, let place): try insert(items, keys: keys(items.count, place))
        case .moved(let ids, let place):
            let keys = try keys(ids.count, place)
            let update = try cachedStatement(sql: "UPDATE queueItem SET position = ? WHERE id = ?")
            for (index, id) in ids.enumerated() { try update.execute(arguments: [keys[index], id]) }
        case .removed(let ids):
            let delete = try cachedStatement(sql: "DELETE FROM queueItem WHERE id = ?")
            for id in ids { try delete.execute(arguments: [id]) }
        case .described(let item):
            try cachedStatement(
                sql: """
                    UPDATE queueItem SET title = ?, artist = ?, album = ?, duration = ?, sampleRate = ?, channels = ?,
                        codec = ?, unreadable = 0 WHERE id = ?
                    """
            ).execute(arguments: [
                item.title, item.artist, item.album, item.duration, item.sampleRate, item.channels, item.codec, item.id,
            ])
        case .prioritised(let ids, let priority):
            let update = try cachedStatement(sql: "UPDATE queueItem SET priority = ? WHERE id = ?")
            for id in ids { try update.execute(arguments: [priority, id]) }
        case .unreadable(let id):
            try cachedStatement(sql: "UPDATE queueItem SET unreadable = 1 WHERE id = ?").execute(arguments: [id])
        case .replaced(let items): try replaceQueue(with: items)
        }
    }

    /// Makes the stored queue equal to `items`. Writes only the rows that differ.
    private func replaceQueue(with items: [PlayerItem]) throws {
        guard !items.isEmpty else { return try execute(sql: "DELETE FROM queueItem") }
        let stored = try Int.fetchSet(self, sql: "SELECT id FROM queueItem")
        try apply(.removed(Array(stored.subtracting(items.map(\.id)))))
        try insert(items, keys: QueueKeys(first: QueueKey.first, step: QueueKey.gap))
    }

    private func insert(_ items: [PlayerItem], keys: QueueKeys) throws {
        let upsert = try cachedStatement(
            sql: """
                INSERT INTO queueItem
                    (id, position, path, title, artist, album, duration, sampleRate, channels, codec, priority)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET position = excluded.position, path = excluded.path,
                    title = excluded.title, artist = excluded.artist, album = excluded.album,
                    duration = excluded.duration, sampleRate = excluded.sampleRate,
                    channels = excluded.channels, codec = excluded.codec, priority = excluded.priority
                WHERE (position, path, title, artist, album, duration, sampleRate, channels, codec, priority) IS NOT
                    (excluded.position, excluded.path, excluded.title, excluded.artist, excluded.album,
                    excluded.duration, excluded.sampleRate, excluded.channels, excluded.codec, excluded.priority)
                """
        )
        for (index, item) in items.enumerated() {
            try upsert.execute(arguments: [
                item.id, keys[index], item.path, item.title, item.artist, item.album, item.duration, item.sampleRate,
                item.channels, item.codec, item.priority ?? 0,
            ])
        }
    }

    /// Returns keys for `count` items at `place`. If there is no room left, all items get new keys first.
    private func keys(_ count: Int, _ place: QueuePlace) throws -> QueueKeys {
        if let keys = try freeKeys(count, place) { return keys }
        try execute(
            sql: """
                UPDATE queueItem SET position = ? + ? * place.number
                FROM (SELECT id, row_number() OVER (ORDER BY position) - 1 AS number FROM queueItem) AS place
                WHERE place.id = queueItem.id
                """,
            arguments: [QueueKey.first, QueueKey.gap]
        )
        guard let keys = try freeKeys(count, place) else { throw QueueFull() }
        return keys
    }

    private func freeKeys(_ count: Int, _ place: QueuePlace) throws -> QueueKeys? {
        let span = Int64(count).multipliedReportingOverflow(by: QueueKey.gap)
        guard !span.overflow else { return nil }
        switch (try place.after.map(key), try place.before.map(key)) {
        case (nil, nil): return QueueKeys(first: QueueKey.first, step: QueueKey.gap)
        case (let after?, nil):
            return after > .max - span.partialValue ? nil : QueueKeys(first: after + QueueKey.gap, step: QueueKey.gap)
        case (nil, let before?):
            return before < span.partialValue
                ? nil : QueueKeys(first: before - span.partialValue, step: QueueKey.gap)
        case (let after?, let before?):
            let step = (before - after) / Int64(count + 1)
            return step > 0 ? QueueKeys(first: after + step, step: step) : nil
        }
    }

    private func key(_ id: Int) throws -> Int64 {
        let statement = try cachedStatement(sql: "SELECT position FROM queueItem WHERE id = ?")
        guard let key = try Int64.fetchOne(statement, arguments: [id]) else { throw MissingNeighbour(id: id) }
        return key
    }
}

/// Equidistant keys.
private struct QueueKeys {
    var first: Int64
    var step: Int64

    subscript(index: Int) -> Int64 { first + Int64(index) * step }
}

/// An error: the queue has more items than there are keys.
private struct QueueFull: Error, CustomStringConvertible {
    var description: String { "the queue has more items than can be stored" }
}

/// An error: a change names an item that is not stored. The player then writes the whole queue.
private struct MissingNeighbour: Error, CustomStringConvertible {
    var id: Int
    var description: String { "queue item \(id) is not stored" }
}
