package import BackgrounderAPI
package import FoundationEssentials
import GRDB

/// The commands of a fleet: each is known until it has expired, so that it is executed at most once.
extension StateStore {
    /// The commands that may wait for their end. Tuned: more mean a sender in a loop.
    package static let mostWaitingCommands = 1000
    /// The commands that are remembered, at most. Tuned: a command every minute for a week.
    private static let mostCommands = 10_000
    /// Seconds for which an expired command is remembered, in case that a clock was wrong. Tuned: a week.
    private static let memory = 7 * 86_400.0

    /// Returns the commands that have not ended, or whose last reply the broker may not have, oldest first. Blocks the calling thread.
    package func openCommands() throws -> [StoredCommand] {
        try read { database in
            let sql = "SELECT * FROM fleetCommand WHERE result = 'accepted' OR answered = 0 ORDER BY number"
            return try Row.fetchAll(database, sql: sql).map { StoredCommand(row: $0) }
        }
    }

    /// Returns the command with this id, if it is remembered.
    package func command(_ id: String) async throws -> StoredCommand? {
        try await read { try $0.command(id) }
    }

    /// Stores a new command, and forgets old ones. Then it is on the disk: the broker forgets a command that was acknowledged.
    ///
    /// If only the sync fails, the command counts as stored. ``beginCommand(_:)`` then fails until the disk works again.
    package func receive(_ command: StoredCommand, at time: Date) async throws -> CommandReceipt {
        let receipt: CommandReceipt = try await write(durable: true) { database in
            if let known = try database.command(command.id) { return .known(known) }
            let waiting = try Int.fetchOne(
                database,
                sql: "SELECT count(*) FROM fleetCommand WHERE result = 'accepted'"
            )
            guard waiting ?? 0 < Self.mostWaitingCommands else { return .full(limit: Self.mostWaitingCommands) }
            try database.execute(
                sql: """
                    DELETE FROM fleetCommand WHERE result <> 'accepted' AND (expires < ? OR number <=
                        (SELECT number FROM fleetCommand ORDER BY number DESC LIMIT 1 OFFSET ?))
                    """,
                arguments: [time.addingTimeInterval(-Self.memory).milliseconds, Self.mostCommands - 1]
            )
            try database.execute(
                sql: """
                    INSERT INTO fleetCommand (id, publisher, content, expires, result, reason) VALUES (?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    command.id, command.publisher, Data(command.content), command.expires.milliseconds,
                    command.result.rawValue, command.reason,
                ]
            )
            return .stored
        }
        if case .stored = receipt { try? await syncEverything() }
        return receipt
    }

    /// Records that the execution of a command begins. Then this is on the disk: a command is not executed again after a power cut.
    ///
    /// Returns whether the command waits for its execution, and has not ended.
    package func beginCommand(_ id: String) async throws -> Bool {
        let isWaiting = try await write(durable: false) { database in
            try database.execute(
                sql: "UPDATE fleetCommand SET begun = 1 WHERE id = ? AND result = 'accepted'",
                arguments: [id]
            )
            return database.changesCount > 0
        }
        if isWaiting { try await syncEverything() }
        return isWaiting
    }

    /// Stores how a command ended.
    package func endCommand(_ id: String, _ result: CommandResult, reason: String?) async throws {
        try await write(durable: false) { database in
            try database.execute(
                sql: "UPDATE fleetCommand SET result = ?, reason = ? WHERE id = ?",
                arguments: [result.rawValue, reason, id]
            )
        }
    }

    /// Records that the sender's broker has the last reply to a command. Blocks the calling thread.
    package func answeredCommand(_ id: String) throws {
        try write(durable: false) { database in
            try database.execute(sql: "UPDATE fleetCommand SET answered = 1 WHERE id = ?", arguments: [id])
        }
    }
}

extension Database {
    fileprivate func command(_ id: String) throws -> StoredCommand? {
        try Row.fetchOne(self, sql: "SELECT * FROM fleetCommand WHERE id = ?", arguments: [id])
            .map { StoredCommand(row: $0) }
    }

    /// Ends the commands of a publisher that is removed. Their ids are remembered, so that none is executed if it comes again.
    func endCommands(of publisher: String) throws {
        let sql = """
            UPDATE fleetCommand SET answered = 1, content = x'', reason = CASE WHEN result = 'accepted' THEN
                'the publisher was removed' ELSE reason END, result = CASE WHEN result = 'accepted' THEN 'refused' ELSE result END
            WHERE publisher = ?
            """
        try execute(sql: sql, arguments: [publisher])
    }
}

extension StoredCommand {
    fileprivate init(row: Row) {
        let content: Data = row["content"]
        self.init(
            id: row["id"],
            publisher: row["publisher"],
            content: Array(content),
            expires: Date(milliseconds: row["expires"]),
            result: CommandResult(rawValue: row["result"]) ?? .refused,
            reason: row["reason"],
            hasBegun: row["begun"]
        )
    }
}
