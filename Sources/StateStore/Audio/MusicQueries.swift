package import BackgrounderAPI
package import FoundationEssentials
import GRDB

/// A sort order of songs other than the order of a walk.
package enum SongOrder: Hashable, Sendable {
    case tag(SongTagName)
    case modified
}

/// The number of songs with one tag value and their playing time in seconds. Without a grouping the value is "".
package struct SongCount: Hashable, Sendable {
    package var value: String
    package var songs: Int
    package var playtime: Double
}

/// Totals of the music database. Artists and albums are counted by their different names.
package struct MusicStatistics: Hashable, Sendable {
    package var artists = 0
    package var albums = 0
    package var songs = 0
    /// The playing time of all songs in seconds.
    package var playtime = 0.0
    /// The time of the last change; `nil` if there was none.
    package var updated: Date?
}

/// Queries of the music database. They run on the queue of the reading connection and do not delay writers.
extension StateStore {
    /// Returns the song with this path; `nil` if there is none.
    package func song(_ path: String) async throws -> Song? {
        try await musicReader.read { database in
            try Row.fetchOne(
                database.cachedStatement(sql: "SELECT \(Song.columns) FROM song WHERE path = ?"),
                arguments: [path]
            ).map(Song.init(row:))
        }
    }

    /// Returns the songs with these paths, by path.
    package func songs(at paths: [String]) async throws -> [String: Song] {
        try await musicReader.read { database in
            let statement = try database.cachedStatement(sql: "SELECT \(Song.columns) FROM song WHERE path = ?")
            var songs: [String: Song] = [:]
            for path in paths where songs[path] == nil {
                if let row = try Row.fetchOne(statement, arguments: [path]) { songs[path] = Song(row: row) }
            }
            return songs
        }
    }

    /// Returns the songs that match `filter`: sorted by `order`, and among equals in the order of a walk.
    ///
    /// - Parameter window: the positions to return in that order; `nil` for all.
    package func songs(
        _ filter: SongFilter,
        by order: SongOrder? = nil,
        descending: Bool = false,
        window: Range<Int>? = nil
    ) async throws -> [Song] {
        let query = SongQuery(filter, order, descending: descending, window)
        return try await musicReader.read { database in try query.songs(database) }
    }

    /// Returns the songs directly in a folder, by disc, track and name.
    package func songs(in folder: String) async throws -> [Song] {
        try await musicReader.read { database in
            try database.songs(
                "SELECT \(Song.columns) FROM song WHERE folderKey = ? AND folder = ? ORDER BY disc, track, nameKey, path",
                [NaturalKey.folder(folder), folder]
            )
        }
    }

    /// Returns the subfolders of a folder in the order of a walk; `nil` if the folder is unknown.
    ///
    /// - Parameter deep: whether to include the folders at all levels below.
    package func musicFolders(
        in folder: String,
        deep: Bool = false
    ) async throws -> [(path: String, modified: Date?)]? {
        try await musicReader.read { database in
            let (from, to) = pathsBelow(folder)
            let known = "SELECT 1 FROM songFolder WHERE path = ?"
            if !folder.isEmpty, try Int.fetchOne(database, sql: known, arguments: [folder]) == nil { return nil }
            let condition = deep ? (folder.isEmpty ? "1" : "path >= ? AND path < ?") : "parent = ?"
            let rows = try Row.fetchAll(
                database,
                sql: "SELECT path, modified FROM songFolder WHERE \(condition) ORDER BY key, path",
                arguments: deep ? (folder.isEmpty ? [] : [from, to]) : [folder]
            )
            return rows.map { ($0["path"], ($0["modified"] as Int64?).map(Date.init(nanoseconds:))) }
        }
    }

    /// Returns the time at which a folder was last changed; `nil` if it is unknown.
    package func musicFolder(at path: String) async throws -> Date? {
        try await musicReader.read { database in
            try Int64.fetchOne(database, sql: "SELECT modified FROM songFolder WHERE path = ?", arguments: [path])
                .map(Date.init(nanoseconds:))
        }
    }

    /// Returns the distinct combinations of a value of `tag` and the values of the tags in `grouping`, in this order. A
    /// song without a tag has "".
    ///
    /// Rows are sorted by the last tag of `grouping` first, then by the one before it, and finally by the value of
    /// `tag`.
    package func tagValues(
        _ tag: SongTagName,
        _ filter: SongFilter,
        groupedBy grouping: [SongTagName]
    ) async throws -> [[String]] {
        let names = [tag] + grouping
        let condition = SongCondition(filter)
        let columns = names.indices.map { "coalesce(t\($0).value, '')" }
        let joins = names.indices.map { "LEFT JOIN songTag t\($0) ON t\($0).song = song.id AND t\($0).name = ?" }
        let order = names.indices.reversed().map { "\($0 + 1)" }
        let sql = """
            SELECT DISTINCT \(columns.joined(separator: ", ")) FROM song \(joins.joined(separator: " "))
            WHERE \(condition.sql) ORDER BY \(order.joined(separator: ", "))
            """
        let arguments = StatementArguments(names.map(\.rawValue)) + condition.arguments
        return try await musicReader.read { database in
            try Row.fetchAll(database, sql: sql, arguments: arguments).map { row in names.indices.map { row[$0] } }
        }
    }

    /// Returns the songs and their playing time for each value of `grouping`, with "" for songs without it; without a
    /// grouping, one count of all songs.
    package func songCounts(_ filter: SongFilter, groupedBy grouping: SongTagName?) async throws -> [SongCount] {
        let condition = SongCondition(filter)
        let sql =
            if grouping == nil {
                "SELECT '', count(*), total(duration) FROM song WHERE \(condition.sql)"
            } else {
                """
                SELECT coalesce(t.value, ''), count(*), total(duration) FROM song
                LEFT JOIN songTag t ON t.song = song.id AND t.name = ? WHERE \(condition.sql) GROUP BY 1 ORDER BY 1
                """
            }
        let arguments = StatementArguments(grouping.map { [$0.rawValue] } ?? []) + condition.arguments
        return try await musicReader.read { database in
            try Row.fetchAll(database, sql: sql, arguments: arguments).map {
                SongCount(value: $0[0], songs: $0[1], playtime: $0[2])
            }
        }
    }

    /// Returns the totals of the music database.
    package func musicStatistics() async throws -> MusicStatistics {
        try await musicReader.read { database in
            func values(_ name: SongTagName) throws -> Int {
                try Int.fetchOne(
                    database,
                    sql: "SELECT count(DISTINCT value) FROM songTag WHERE name = ?",
                    arguments: [name.rawValue]
                ) ?? 0
            }
            let row = try Row.fetchOne(database, sql: "SELECT count(*), total(duration) FROM song")
            let updated = try Int64.fetchOne(database, sql: "SELECT updated FROM music")
            return MusicStatistics(
                artists: try values(.artist),
                albums: try values(.album),
                songs: row?[0] ?? 0,
                playtime: row?[1] ?? 0,
                updated: updated.map { Date(timeIntervalSince1970: Double($0) / 1000) }
            )
        }
    }
}

/// A statement that selects songs.
struct SongQuery {
    let sql: String
    let arguments: StatementArguments

    private static let walk = "song.folderKey, song.folder, song.disc, song.track, song.nameKey, song.path"

    init(_ filter: SongFilter, _ order: SongOrder?, descending: Bool, _ window: Range<Int>?) {
        let condition = SongCondition(filter)
        var arguments = condition.arguments
        let direction = descending ? " DESC, " : ", "
        let first =
            switch order {
            case nil: ""
            case .modified: "song.modified" + direction
            case .tag(.disc): "song.disc" + direction
            case .tag(.track): "song.track" + direction
            case .tag:
                """
                coalesce((SELECT folded FROM songTag WHERE song = song.id AND name = ? ORDER BY ordinal LIMIT 1), '')\
                \(direction)
                """
            }
        if case .tag(let name) = order, name != .disc, name != .track { arguments += [name.rawValue] }
        var sql = "SELECT \(Song.columns) FROM song WHERE \(condition.sql) ORDER BY \(first)\(Self.walk)"
        if let window {
            sql += " LIMIT ? OFFSET ?"
            arguments += [window.count, window.lowerBound]
        }
        self.sql = sql
        self.arguments = arguments
    }

    func songs(_ database: Database) throws -> [Song] { try database.songs(sql, arguments) }
}

extension Database {
    fileprivate func songs(_ sql: String, _ arguments: StatementArguments) throws -> [Song] {
        var songs: [Song] = []
        let rows = try Row.fetchCursor(self, sql: sql, arguments: arguments)
        while let row = try rows.next() { songs.append(Song(row: row)) }
        return songs
    }
}
