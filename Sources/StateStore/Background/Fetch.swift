package import BackgrounderAPI
package import FoundationEssentials
import GRDB

/// A stored fetch source. `state` is in the mode's own encoding.
package struct SavedFetch: Sendable {
    package var definition: FetchDefinition
    package var state: Data
    package var unseen: Int
    /// Whether the configuration declares it.
    package var isDeclared: Bool
}

extension StateStore {
    /// Returns the fetch sources in the order in which they were added. Blocks the calling thread.
    package func fetchSources() throws -> [SavedFetch] {
        try read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM fetchSource ORDER BY id").map { row in
                SavedFetch(
                    definition: FetchDefinition(
                        name: row["name"],
                        url: row["url"],
                        command: try (row["command"] as Data?).map { try JSON.decode([String].self, from: $0) },
                        kind: FetchKind(rawValue: row["kind"]),
                        interval: try JSON.decode(FetchInterval.self, from: row["interval"] as Data),
                        budget: row["budget"],
                        download: row["download"],
                        directory: row["directory"],
                        credentials: row["credentials"]
                    ),
                    state: row["standing"],
                    unseen: row["unseen"],
                    isDeclared: row["declared"]
                )
            }
        }
    }

    /// Returns the highest id that a run ever had; 0 if there was none. Blocks the calling thread.
    package func lastFetchRun() throws -> Int {
        try read { database in
            try Int.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'fetchRun'") ?? 0
        }
    }

    /// Returns the runs without a recorded end, by id. Blocks the calling thread.
    package func openFetchRuns() throws -> [FetchRun] {
        try read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM fetchRun WHERE ended IS NULL ORDER BY id").map(FetchRun.init)
        }
    }

    /// Returns the newest `count` runs of `source`, oldest first.
    package func fetchRuns(of source: String, last count: Int) async throws -> [FetchRun] {
        try await read { database in
            let sql = "SELECT * FROM fetchRun WHERE source = ? ORDER BY id DESC LIMIT ?"
            return try Row.fetchAll(database, sql: sql, arguments: [source, count]).reversed().map(FetchRun.init)
        }
    }

    /// Returns the content that `source` last delivered; `nil` if there is none.
    package func fetchContent(of source: String) async throws -> FetchContent? {
        try await read { database in
            let sql = "SELECT bytes, mediaType, items FROM fetchContent WHERE source = ?"
            return try Row.fetchOne(database, sql: sql, arguments: [source]).map { row in
                FetchContent(
                    bytes: row["bytes"],
                    mediaType: row["mediaType"],
                    items: try JSON.decode([FetchItem].self, from: row["items"] as Data)
                )
            }
        }
    }

    /// Returns the items of the feed `source`, without its bytes.
    package func fetchItems(of source: String) async throws -> [FetchItem] {
        try await read { database in
            let items = try Data.fetchOne(
                database,
                sql: "SELECT items FROM fetchContent WHERE source = ?",
                arguments: [source]
            )
            return try items.map { try JSON.decode([FetchItem].self, from: $0) } ?? []
        }
    }

    /// Returns the mode's record of the items of a feed, in the mode's own encoding.
    package func fetchSeen(of source: String) async throws -> Data? {
        try await read { database in
            try Data.fetchOne(database, sql: "SELECT seen FROM fetchContent WHERE source = ?", arguments: [source])
        }
    }

    /// Returns the opens of each source, oldest first. Blocks the calling thread.
    package func fetchOpens() throws -> [String: [FetchOpen]] {
        try read { database in
            var opens: [String: [FetchOpen]] = [:]
            let rows = try Row.fetchCursor(database, sql: "SELECT * FROM fetchOpen ORDER BY source, at")
            while let row = try rows.next() {
                let open = FetchOpen(at: Date(milliseconds: row["at"]), secondsFromGMT: row["secondsFromGMT"])
                opens[row["source"], default: []].append(open)
            }
            return opens
        }
    }

    /// Applies `changes` in their order, in one transaction.
    package func save(_ changes: [FetchChange], durable: Bool = true) async throws {
        try await write(durable: durable) { database in
            for change in changes { try database.apply(change) }
        }
    }
}

extension Database {
    fileprivate func apply(_ change: FetchChange) throws {
        switch change {
        case .added(let source, let state, let isDeclared):
            try execute(
                sql: """
                    INSERT INTO fetchSource
                        (name, kind, url, command, interval, budget, download, directory, credentials, standing,
                        declared)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    source.name, source.kind.rawValue, source.url, try source.command.map { try JSON.line($0) },
                    try JSON.line(source.interval), source.budget, source.download, source.directory,
                    source.credentials, state, isDeclared,
                ]
            )
        case .changed(let source, let isDeclared):
            try execute(
                sql: """
                    UPDATE fetchSource SET interval = ?, budget = ?, download = ?, directory = ?, credentials = ?,
                        declared = ? WHERE name = ?
                    """,
                arguments: [
                    try JSON.line(source.interval), source.budget, source.download, source.directory,
                    source.credentials, isDeclared, source.name,
                ]
            )
        case .removed(let name): try execute(sql: "DELETE FROM fetchSource WHERE name = ?", arguments: [name])
        case .state(let name, let state, let unseen):
            try cachedStatement(sql: "UPDATE fetchSource SET standing = ?, unseen = ? WHERE name = ?")
                .execute(arguments: [state, unseen, name])
        case .began(let run): try begin(run)
        case .ended(let run): try end(run)
        case .content(let name, let content, let seen):
            try execute(
                sql: """
                    INSERT INTO fetchContent VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT (source) DO UPDATE SET bytes = excluded.bytes, mediaType = excluded.mediaType,
                        items = excluded.items, seen = excluded.seen
                    """,
                arguments: [name, content.bytes, content.mediaType, try JSON.line(content.items), seen]
            )
        case .cleared(let name): try execute(sql: "DELETE FROM fetchContent WHERE source = ?", arguments: [name])
        case .opened(let names, let open): try add(open, to: names)
        }
    }

    private func begin(_ run: FetchRun) throws {
        try execute(
            sql: "INSERT INTO fetchRun (id, source, trigger, began) VALUES (?, ?, ?, ?)",
            arguments: [run.id, run.source, run.trigger.rawValue, run.began.milliseconds]
        )
        try execute(
            sql: """
                DELETE FROM fetchRun WHERE source = ?1 AND id <=
                    (SELECT id FROM fetchRun WHERE source = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)
                """,
            arguments: [run.source, FetchLimits.runs]
        )
    }

    private func end(_ run: FetchRun) throws {
        try execute(
            sql:
                "UPDATE fetchRun SET ended = ?, duration = ?, result = ?, status = ?, bytes = ?, reason = ?, note = ? WHERE id = ?",
            arguments: [
                run.ended?.milliseconds, run.duration, run.result?.rawValue, run.status, run.bytes, run.reason,
                run.note, run.id,
            ]
        )
    }

    private func add(_ open: FetchOpen, to names: [String]) throws {
        for name in names {
            try execute(
                sql: "INSERT OR REPLACE INTO fetchOpen VALUES (?, ?, ?)",
                arguments: [name, open.at.milliseconds, open.secondsFromGMT]
            )
            try execute(
                sql: """
                    DELETE FROM fetchOpen WHERE source = ?1 AND (at < ?2 OR at <=
                        (SELECT at FROM fetchOpen WHERE source = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?3))
                    """,
                arguments: [name, open.at.milliseconds - FetchLimits.openAge, FetchLimits.opens]
            )
        }
    }
}

/// The number of runs and opens that are kept per source.
private enum FetchLimits {
    static let runs = 500  // Tuned: ten days of the most frequent runs.
    static let opens = 2000  // Tuned: 16 a day within the age limit.
    static let openAge = Int64(FetchOpen.longestAge) * 1000
}

extension FetchRun {
    fileprivate init(_ row: Row) {
        self.init(
            id: row["id"],
            source: row["source"],
            trigger: FetchTrigger(rawValue: row["trigger"]) ?? .due,
            began: Date(milliseconds: row["began"]),
            ended: (row["ended"] as Int64?).map(Date.init(milliseconds:)),
            duration: row["duration"],
            result: (row["result"] as String?).flatMap(FetchResult.init),
            status: row["status"],
            bytes: row["bytes"],
            reason: row["reason"],
            note: row["note"]
        )
    }
}
