package import BackgrounderAPI
package import FoundationEssentials
import GRDB

/// The table of transfers. `detail` is what the mode needs to continue a transfer, in the mode's own encoding.
extension StateStore {
    /// The number of finished transfers that are kept. Tuned: as many as a user may want to look up.
    private static let mostOver = 1000
    /// The number of events that are kept per session. Tuned: bounds a session whose events are never acknowledged.
    private static let mostEvents = 10_000

    /// Returns the transfers that are not over, by id. Blocks the calling thread.
    package func openTransfers() throws -> [(transfer: Transfer, detail: Data)] {
        try read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM transfer WHERE detail IS NOT NULL ORDER BY id").map { row in
                (try Transfer(row: row), row["detail"])
            }
        }
    }

    /// Returns the transfers that are not over and the newest finished ones, by id.
    package func transfers() async throws -> [Transfer] {
        try await read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM transfer ORDER BY id").map { try Transfer(row: $0) }
        }
    }

    /// Returns the transfer with this id; `nil` if there is none.
    package func transfer(_ id: Int) async throws -> Transfer? {
        try await read { database in
            try Row.fetchOne(database, sql: "SELECT * FROM transfer WHERE id = ?", arguments: [id]).map {
                try Transfer(row: $0)
            }
        }
    }

    /// Stores a new transfer durably, and creates its session if there is none with its name.
    ///
    /// - Returns: the id of the transfer.
    package func add(_ transfer: Transfer, detail: Data) async throws -> Int {
        try await write(durable: true) { database in
            try database.execute(
                sql: "INSERT INTO transferSession (name) VALUES (?) ON CONFLICT DO NOTHING",
                arguments: [transfer.session]
            )
            try database.execute(
                sql: """
                    INSERT INTO transfer (session, direction, url, destination, state, waitingFor, received, total, attempts,
                        restarts, discretionary, error, detail)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [transfer.session, transfer.direction.rawValue, transfer.url] + transfer.arguments
                    + [detail]
            )
            return Int(database.lastInsertedRowID)
        }
    }

    /// Updates a transfer that is not over durably.
    package func save(_ transfer: Transfer, detail: Data) async throws {
        try await write(durable: true) { database in try database.update(transfer, detail: detail) }
    }

    /// Stores the end of a transfer and its event in one durable write, and deletes the oldest finished transfers and
    /// events.
    package func end(_ transfer: Transfer, at: Date) async throws {
        try await write(durable: true) { database in
            try database.update(transfer, detail: nil)
            try database.addTransferEvent(transfer.session, transfer.id, transfer.state.rawValue, at)
            try database.execute(
                sql: """
                    DELETE FROM transfer WHERE detail IS NULL AND id <=
                        (SELECT id FROM transfer WHERE detail IS NULL ORDER BY id DESC LIMIT 1 OFFSET ?)
                    """,
                arguments: [Self.mostOver]
            )
            try database.execute(
                sql: """
                    DELETE FROM transferEvent WHERE session = ?1
                        AND seq <= (SELECT lastSeq FROM transferSession WHERE name = ?1) - ?2
                    """,
                arguments: [transfer.session, Self.mostEvents]
            )
        }
    }

    /// Deletes the finished transfers durably. Their events stay.
    ///
    /// - Returns: the number of deleted transfers.
    package func removeEndedTransfers() async throws -> Int {
        try await write(durable: true) { database in
            try database.execute(sql: "DELETE FROM transfer WHERE detail IS NULL")
            return database.changesCount
        }
    }

    /// Returns the sessions that ever had a transfer, by name, with the numbers of their open transfers and events.
    package func transferSessions() async throws -> [SessionStatus] {
        try await read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT name,
                        (SELECT count(*) FROM transfer WHERE session = name AND detail IS NOT NULL) AS open,
                        (SELECT count(*) FROM transferEvent WHERE session = name) AS events
                    FROM transferSession ORDER BY name
                    """
            ).map { SessionStatus(name: $0["name"], open: $0["open"], events: $0["events"]) }
        }
    }

    /// Returns the events of a session that were not acknowledged, oldest first; `nil` if the session never had a
    /// transfer.
    package func transferEvents(of session: String) async throws -> [TransferEvent]? {
        try await read { try $0.transferEvents(of: session) }
    }

    /// Deletes the events of a session up to `seq` durably. If this leaves neither an event nor an open transfer, one
    /// event `all-events-delivered` is added.
    ///
    /// - Returns: the remaining events; `nil` if the session never had a transfer.
    package func acknowledge(_ session: String, through seq: Int, at: Date) async throws -> [TransferEvent]? {
        try await write(durable: true) { database in
            guard let events = try database.transferEvents(of: session) else { return nil }
            let taken = events.filter { $0.seq <= seq }
            guard let last = taken.last else { return events }
            try database.execute(
                sql: "DELETE FROM transferEvent WHERE session = ? AND seq <= ?",
                arguments: [session, seq]
            )
            let isOpen = try Bool.fetchOne(
                database,
                sql: "SELECT EXISTS (SELECT * FROM transfer WHERE session = ? AND detail IS NOT NULL)",
                arguments: [session]
            )
            if isOpen != true, taken.count == events.count, last.transfer != nil {
                try database.addTransferEvent(session, nil, "all-events-delivered", at)
            }
            return try database.transferEvents(of: session)
        }
    }
}

extension Database {
    fileprivate func update(_ transfer: Transfer, detail: Data?) throws {
        try cachedStatement(
            sql: """
                UPDATE transfer SET destination = ?, state = ?, waitingFor = ?, received = ?, total = ?, attempts = ?,
                    restarts = ?, discretionary = ?, error = ?, detail = ? WHERE id = ? AND detail IS NOT NULL
                """
        ).execute(arguments: transfer.arguments + [detail, transfer.id])
    }

    fileprivate func transferEvents(of session: String) throws -> [TransferEvent]? {
        let known = try Int.fetchOne(self, sql: "SELECT 1 FROM transferSession WHERE name = ?", arguments: [session])
        guard known != nil else { return nil }
        return try Row.fetchAll(
            self,
            sql: "SELECT seq, transfer, state, at FROM transferEvent WHERE session = ? ORDER BY seq",
            arguments: [session]
        ).map { row in
            TransferEvent(
                seq: row[0],
                session: session,
                transfer: row[1],
                state: row[2],
                at: Date(timeIntervalSince1970: Double(row[3] as Int64) / 1000)
            )
        }
    }

    fileprivate func addTransferEvent(_ session: String, _ transfer: Int?, _ state: String, _ at: Date) throws {
        try execute(sql: "UPDATE transferSession SET lastSeq = lastSeq + 1 WHERE name = ?", arguments: [session])
        let milliseconds = Int64(exactly: (at.timeIntervalSince1970 * 1000).rounded()) ?? 0
        try execute(
            sql: """
                INSERT INTO transferEvent (session, seq, transfer, state, at)
                SELECT name, lastSeq, ?, ?, ? FROM transferSession WHERE name = ?
                """,
            arguments: [transfer, state, milliseconds, session]
        )
    }
}

extension Transfer {
    /// The values from `destination` to `error`, in the order of the columns.
    fileprivate var arguments: StatementArguments {
        [
            destination, state.rawValue, waitingFor?.rawValue, received, total, attempts, restarts, discretionary,
            error,
        ]
    }

    fileprivate init(row: Row) throws {
        guard let direction = TransferDirection(rawValue: row["direction"]),
            let state = TransferState(rawValue: row["state"])
        else { throw DatabaseError(message: "unknown direction or state of a transfer") }
        self.init(
            id: row["id"],
            session: row["session"],
            direction: direction,
            url: row["url"],
            destination: row["destination"],
            state: state,
            waitingFor: (row["waitingFor"] as String?).flatMap(TransferWait.init),
            received: row["received"],
            total: row["total"],
            attempts: row["attempts"],
            restarts: row["restarts"],
            discretionary: row["discretionary"],
            error: row["error"]
        )
    }
}
