package import BackgrounderAPI
package import FoundationEssentials
import GRDB

/// The tables of silent push. Accepted messages are stored durably; ignored messages are only counted.
extension StateStore {
    /// Returns the subscriptions, oldest first; one of a later version that this one cannot read is left out. Blocks the
    /// calling thread.
    package func pushes() throws -> [StoredPush] {
        try read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM push ORDER BY number").compactMap { row in
                guard let address = try? BrokerAddress(row["url"]), let topic = try? TopicFilter(row["topic"]) else {
                    return nil
                }
                var ignored = PushIgnored()
                ignored.retained = row["retained"]
                ignored.duplicate = row["duplicate"]
                ignored.expired = row["expired"]
                ignored.oversize = row["oversize"]
                ignored.malformed = row["malformed"]
                ignored.unknown = row["unknown"]
                return StoredPush(
                    name: row["name"],
                    address: address,
                    topic: topic,
                    credentials: row["credentials"],
                    clientID: row["client"],
                    isDeclared: row["declared"],
                    received: row["received"],
                    ignored: ignored
                )
            }
        }
    }

    /// Returns, after a restart, the messages whose fetch is not over, one per source. If the previous process ended
    /// during the fetch, the message waits again.
    ///
    /// A newer message of the same source replaces an interrupted one. The first interruption of a message takes its
    /// fetch back from the hourly count; a message that crashes the process every time uses up the hour's fetches.
    package func recoverPushMessages() async throws -> [WaitingPush] {
        try await write(durable: false) { database in
            try database.execute(
                sql: """
                    DELETE FROM pushStart WHERE EXISTS (
                        SELECT 1 FROM pushMessage AS message WHERE message.source = pushStart.source
                            AND message.began = pushStart.began AND NOT message.wasCut
                    );
                    DELETE FROM pushMessage WHERE isRunning AND source IN (SELECT source FROM pushMessage WHERE NOT isRunning);
                    UPDATE pushMessage SET isRunning = 0, began = NULL, wasCut = 1 WHERE isRunning;
                    """
            )
            return try Row.fetchAll(database, sql: "SELECT * FROM pushMessage ORDER BY source").map { row in
                WaitingPush(
                    source: row["source"],
                    id: row["id"],
                    alert: row["alert"],
                    arrived: Date(milliseconds: row["arrived"])
                )
            }
        }
    }

    /// Returns the times at which recent fetches of each source began, oldest first. Blocks the calling thread.
    package func pushStarts() throws -> [String: [Date]] {
        try read { database in
            try Row.fetchAll(database, sql: "SELECT source, began FROM pushStart ORDER BY began")
                .reduce(into: [:]) { $0[$1["source"], default: []].append(Date(milliseconds: $1["began"])) }
        }
    }

    /// Deletes the subscriptions with the names `removed`, stores new ones, and marks those with the names `adopted` as
    /// declared, in one durable transaction.
    ///
    /// - Throws: `DatabaseError` if there is one with the name of a new one.
    package func changePushes(
        removing removed: [String],
        adding pushes: [StoredPush],
        adopting adopted: [String]
    ) async throws {
        try await write(durable: true) { database in
            for name in removed { try database.execute(sql: "DELETE FROM push WHERE name = ?", arguments: [name]) }
            for push in pushes {
                try database.execute(
                    sql: """
                        INSERT INTO push (name, url, topic, credentials, client, declared) VALUES (?, ?, ?, ?, ?, ?)
                        """,
                    arguments: [
                        push.name, push.address.description, push.topic.description, push.credentials, push.clientID,
                        push.isDeclared,
                    ]
                )
            }
            for name in adopted {
                try database.execute(sql: "UPDATE push SET declared = 1 WHERE name = ?", arguments: [name])
            }
        }
    }

    /// Accepts a message of `push` durably: remembers its id, counts it, and replaces the message that waits for the
    /// same source.
    ///
    /// - Parameters:
    ///   - ids: the number of ids to remember.
    ///   - memory: the time to remember them, in seconds.
    /// - Returns: false if the id is known; the message then only counts as a duplicate.
    package func accept(
        _ message: WaitingPush,
        of push: String,
        remembering ids: Int,
        for memory: Double
    ) async throws -> Bool {
        try await write(durable: true) { database in
            let arrived = message.arrived.milliseconds
            try database.execute(
                sql: "DELETE FROM pushID WHERE arrived < ? OR arrived > ?",
                // Times in the future were recorded before the clock was set back.
                arguments: [arrived - Int64(memory * 1000), arrived + Int64(memory * 1000)]
            )
            try database.execute(
                sql: "INSERT INTO pushID (id, arrived) VALUES (?, ?) ON CONFLICT DO NOTHING",
                arguments: [message.id, arrived]
            )
            guard database.changesCount == 1 else {
                try database.execute(sql: "UPDATE push SET duplicate = duplicate + 1 WHERE name = ?", arguments: [push])
                return false
            }
            try database.execute(
                sql: """
                    DELETE FROM pushID WHERE number <= (SELECT number FROM pushID ORDER BY number DESC LIMIT 1 OFFSET ?)
                    """,
                arguments: [ids]
            )
            try database.execute(
                sql: """
                    INSERT INTO pushMessage (source, isRunning, id, alert, arrived) VALUES (?, 0, ?, ?, ?)
                    ON CONFLICT DO UPDATE SET id = excluded.id, alert = excluded.alert, arrived = excluded.arrived, wasCut = 0
                    """,
                arguments: [message.source, message.id, message.alert, arrived]
            )
            try database.execute(sql: "UPDATE push SET received = received + 1 WHERE name = ?", arguments: [push])
            return true
        }
    }

    /// Adds to the counts of ignored messages of `push`.
    ///
    /// - Parameter reasons: the number of messages for each reason.
    package func count(_ reasons: PushIgnored, of push: String) async throws {
        try await write(durable: false) { database in
            try database.execute(
                sql: """
                    UPDATE push SET retained = retained + ?, duplicate = duplicate + ?, expired = expired + ?,
                        oversize = oversize + ?, malformed = malformed + ?, unknown = unknown + ? WHERE name = ?
                    """,
                arguments: [
                    reasons.retained, reasons.duplicate, reasons.expired, reasons.oversize, reasons.malformed,
                    reasons.unknown, push,
                ]
            )
        }
    }

    /// Records durably that the fetch for the waiting message of `source` begins.
    package func beginPush(_ source: String, at time: Date) async throws {
        try await write(durable: true) { database in
            let began = time.milliseconds
            try database.execute(
                sql: "UPDATE pushMessage SET isRunning = 1, began = ? WHERE source = ? AND NOT isRunning",
                arguments: [began, source]
            )
            try database.execute(sql: "INSERT INTO pushStart VALUES (?, ?)", arguments: [source, began])
            // Only the last hour counts; two hours leave a margin.
            try database.execute(sql: "DELETE FROM pushStart WHERE began < ?", arguments: [began - 7_200_000])
        }
    }

    /// Records durably that the fetch that began at `began` is over.
    ///
    /// - Parameter takenBack: whether to remove the fetch from the hourly count.
    package func endPush(_ source: String, began: Date, takenBack: Bool) async throws {
        try await write(durable: true) { database in
            try database.execute(
                sql: "DELETE FROM pushMessage WHERE source = ? AND isRunning",
                arguments: [source]
            )
            guard takenBack else { return }
            try database.execute(
                sql: "DELETE FROM pushStart WHERE source = ? AND began = ?",
                arguments: [source, began.milliseconds]
            )
        }
    }

    /// Records that the alert of a message was shown, so that it is not shown again.
    package func pushAlerted(_ source: String, id: String) async throws {
        try await write(durable: false) { database in
            try database.execute(
                sql: "UPDATE pushMessage SET alert = NULL WHERE source = ? AND id = ?",
                arguments: [source, id]
            )
        }
    }
}
