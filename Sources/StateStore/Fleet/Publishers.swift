package import BackgrounderAPI
package import FoundationEssentials
import GRDB
import Synchronization

/// The publishers, and the points that they send.
extension StateStore {
    /// Returns the publishers, oldest first; one of a later version that this one cannot read is left out. Blocks the calling
    /// thread.
    package func publishers() throws -> [StoredPublisher] {
        let floor = idFloor.load(ordering: .relaxed)
        return try read { database in
            let newest = max(try database.newestID(), floor)
            return try Row.fetchAll(database, sql: "SELECT * FROM publisher ORDER BY number").compactMap { row in
                guard let address = try? PublisherAddress(row["url"]), let machine = try? MachineID(row["machine"])
                else {
                    return nil
                }
                let acknowledged: Int64? = row["lastAcknowledged"]
                return StoredPublisher(
                    name: row["name"],
                    address: address,
                    machine: machine,
                    topic: row["topic"],
                    isForHomeAssistant: row["homeAssistant"],
                    groups: (row["groups"] as String).split(separator: ",").compactMap { try? MachineID(String($0)) },
                    credentials: row["credentials"],
                    certificate: row["certificate"],
                    key: row["certificateKey"],
                    isDeclared: row["declared"],
                    isPaused: row["paused"],
                    progress: PublishProgress(
                        // Points that a power cut took will come again with other content.
                        done: min(row["done"], newest),
                        published: row["published"],
                        acknowledged: row["acknowledged"],
                        dropped: row["dropped"],
                        lastAcknowledged: acknowledged.map { Date(milliseconds: $0) }
                    )
                )
            }
        }
    }

    /// A number that changes when points are deleted. Any thread.
    package var deletions: Int { latestPoints.deletions }

    /// Deletes the publishers with the names `removed`, stores new ones, and marks those with the names `adopted` as declared, in one
    /// durable transaction. The first publisher also begins the first generation.
    ///
    /// - Throws: `DatabaseError` if there is one with the name of a new one.
    package func changePublishers(
        removing removed: [String],
        adding publishers: [StoredPublisher],
        adopting adopted: [String]
    ) async throws {
        try await write(durable: true) { database in
            let names = Set(publishers.map(\.name))
            self.progress.withLock { for name in names.union(removed) { $0[name] = nil } }
            self.latestPoints.forget()
            for name in removed {
                try database.execute(sql: "DELETE FROM publisher WHERE name = ?", arguments: [name])
                guard !names.contains(name) else { continue }
                try database.endCommands(of: name)
            }
            for publisher in publishers {
                try database.execute(
                    sql: """
                        INSERT INTO publisher (name, declared, url, machine, topic, homeAssistant, groups, credentials,
                            certificate, certificateKey, paused, done, published, acknowledged, dropped, lastAcknowledged)
                        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                        """,
                    arguments: [
                        publisher.name, publisher.isDeclared, publisher.address.description,
                        publisher.machine.description, publisher.topic, publisher.isForHomeAssistant,
                        publisher.groups.map(\.description).joined(separator: ","), publisher.credentials,
                        publisher.certificate, publisher.key, publisher.isPaused, publisher.progress.done,
                        publisher.progress.published, publisher.progress.acknowledged, publisher.progress.dropped,
                        publisher.progress.lastAcknowledged?.milliseconds,
                    ]
                )
            }
            for name in adopted {
                try database.execute(sql: "UPDATE publisher SET declared = 1 WHERE name = ?", arguments: [name])
            }
            if !publishers.isEmpty, try !database.hasGenerations { try database.insertGeneration(from: .min) }
        }
    }

    /// Stores whether a publisher is paused.
    package func setPaused(_ isPaused: Bool, of publisher: String) async throws {
        try await write(durable: true) { database in
            try database.execute(
                sql: "UPDATE publisher SET paused = ? WHERE name = ?",
                arguments: [isPaused, publisher]
            )
        }
    }

    /// Saves the progress of a publisher. After a power cut, points may be sent again. Blocks the calling thread.
    package func save(_ progress: PublishProgress, of publisher: String) throws {
        try write(durable: false) { database in
            self.progress.withLock { $0[publisher] = nil }
            try database.save(progress, of: publisher)
        }
    }

    /// Saves the progress of a publisher in the transaction of the next points, unless ``save(_:of:)`` is called first. Any thread;
    /// returns immediately.
    ///
    /// Returns whether an earlier progress still waits for them.
    package func saveWithNextPoints(_ progress: PublishProgress, of publisher: String) -> Bool {
        self.progress.withLock { $0.updateValue(progress, forKey: publisher) != nil }
    }

    /// Returns the progress that waits for the next points, and forgets it.
    func takeProgress() -> [String: PublishProgress] {
        progress.withLock { progress in
            defer { progress = [:] }
            return progress
        }
    }

    /// Returns the first `limit` recorded points after the one with this id, in the order of ids. Blocks the calling thread.
    package func points(after id: Int64, limit: Int) throws -> [PublishedPoint] {
        if let points = latestPoints.points(after: id, limit: limit) { return points }
        return try readPoints(after: id, limit: limit)
    }

    /// Returns these points from the database.
    func readPoints(after id: Int64, limit: Int) throws -> [PublishedPoint] {
        do {
            // GRDB's `read` sets a pragma, after which SQLite compiles all statements again.
            let points = try database.writeWithoutTransaction { try $0.publishedPoints(after: id, limit: limit) }
            monitor.succeeded(.read)
            return points
        } catch {
            throw noting(error, of: .read)
        }
    }

    /// Returns the id of the newest recorded point; 0 if there is none.
    package func newestPointID() async throws -> Int64 {
        max(try await read { try $0.newestID() }, idFloor.load(ordering: .relaxed))
    }

    /// Returns the id of the last point before the first one of this time or later, or that of the newest point if there is none.
    package func lastPoint(before time: Date) async throws -> Int64 {
        let floor = idFloor.load(ordering: .relaxed)
        return try await read { database in
            for table in ["location", "recentLocation"] {
                let sql = "SELECT min(id) FROM \(table) WHERE time >= ? AND id > 0"
                if let id = try Int64.fetchOne(database, sql: sql, arguments: [time.milliseconds]) { return id - 1 }
            }
            return max(try database.newestID(), floor)
        }
    }
}

extension Database {
    /// The id that new points have to exceed, so that no id of a deleted point is used again.
    var idFloor: Int64 {
        get throws {
            try Int64.fetchOne(self, sql: "SELECT max(firstPoint) - 1 FROM generation WHERE firstPoint > 0") ?? 0
        }
    }

    var hasGenerations: Bool {
        get throws { try Bool.fetchOne(cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM generation)")) ?? false }
    }

    /// Returns the name of the generation of the point with this id; `nil` if there is none.
    func generation(of id: Int64) throws -> String? {
        try String.fetchOne(
            cachedStatement(sql: "SELECT name FROM generation WHERE firstPoint <= ? ORDER BY firstPoint DESC LIMIT 1"),
            arguments: [id]
        )
    }

    /// Begins the generation of this start with the first point after `newest`, and deletes those of deleted points.
    func beginGeneration(after newest: Int64) throws {
        try insertGeneration(from: newest + 1)
        try execute(
            sql: """
                DELETE FROM generation WHERE firstPoint < (SELECT max(firstPoint) FROM generation
                    WHERE firstPoint <= (SELECT coalesce(min(id), 0) FROM location WHERE id > 0))
                """
        )
    }

    /// Stores a generation with a random name.
    func insertGeneration(from id: Int64) throws {
        // One without points is replaced.
        try execute(sql: "DELETE FROM generation WHERE firstPoint >= ?", arguments: [id])
        let digits = String(UInt32.random(in: 0...(.max)), radix: 16)
        let name = String(repeating: "0", count: 8 - digits.count) + digits
        try execute(sql: "INSERT INTO generation (firstPoint, name) VALUES (?, ?)", arguments: [id, name])
    }

    func save(_ progress: PublishProgress, of publisher: String) throws {
        try cachedStatement(
            sql: """
                UPDATE publisher SET done = ?, published = ?, acknowledged = ?, dropped = ?, lastAcknowledged = ?
                WHERE name = ?
                """
        ).execute(arguments: [
            progress.done, progress.published, progress.acknowledged, progress.dropped,
            progress.lastAcknowledged?.milliseconds, publisher,
        ])
    }

    fileprivate func publishedPoints(after id: Int64, limit: Int) throws -> [PublishedPoint] {
        let statement = try cachedStatement(
            sql: """
                SELECT id, recorded, time, latitude, longitude, altitude, horizontalAccuracy, verticalAccuracy, speed, course, mode,
                    segmentStart,
                    (SELECT name FROM generation WHERE firstPoint <= point.id ORDER BY firstPoint DESC LIMIT 1)
                FROM point WHERE id > ? ORDER BY id LIMIT ?
                """
        )
        var points: [PublishedPoint] = []
        try RowReader.forEachRow(of: statement, [max(id, 0), limit], self) { row in
            points.append(try PublishedPoint(row: row))
        }
        return points
    }
}

extension PublishedPoint {
    fileprivate init(row: RowReader) throws {
        guard let id = row.integer(0), let recorded = row.integer(1), let time = row.integer(2),
            let latitude = row.number(3), let longitude = row.number(4), let mode = row.integer(10),
            let segmentStart = row.integer(11)
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a point has impossible values") }
        self.init(
            id: id,
            generation: row.text(12) ?? "",
            recorded: Date(milliseconds: recorded),
            location: Location(
                latitude: latitude,
                longitude: longitude,
                altitude: row.number(5),
                horizontalAccuracy: row.number(6),
                verticalAccuracy: row.number(7),
                speed: row.number(8),
                course: row.number(9),
                timestamp: Date(milliseconds: time),
                mode: Int(mode),
                segmentStart: segmentStart != 0 ? true : nil
            )
        )
    }
}
