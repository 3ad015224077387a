package import BackgrounderAPI
package import FoundationEssentials
import GRDB

/// What songs are sorted by in place of their paths.
package enum SongOrder: Hashable, Sendable {
    case tag(SongTagName)
    case modified
}

/// Songs and seconds of one value; without a grouping the value is "".
package struct SongCount: Hashable, Sendable {
    package var value: String
    package var songs: Int
    package var playtime: Double
}

package struct MusicStatistics: Hashable, Sendable {
    package var artists = 0
    package var albums = 0
    package var songs = 0
    /// Seconds.
    package var playtime = 0.0
    /// The last change.
    package var updated: Date?
}

/// What is asked of the music database. It waits for the disk on a queue of its own and keeps no writer waiting.
extension StateStore {
    package func song(_ path: String) async throws -> Song? {
        try await musicReader.read { database in
            try Row.fetchOne(
                database.cachedStatement(sql: "SELECT \(Song.columns) FROM song WHERE path = ?"),
                arguments: [path]
            ).map(Song.init(row:))
        }
    }

    /// The songs that have these paths, by path.
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

    /// Songs in the order of a walk, or by `order` and then in that one; of these the ones of `window`.
    package func songs(
        _ filter: SongFilter,
        by order: SongOrder? = nil,
        descending: Bool = false,
        window: Range<Int>? = nil
    ) async throws -> [Song] {
        let query = SongQuery(filter, order, descending: descending, window)
        return try await musicReader.read { database in try query.songs(database) }
    }

    /// The songs that lie in a folder itself.
    package func songs(in folder: String) async throws -> [Song] {
        try await musicReader.read { database in
            try database.songs(
                "SELECT \(Song.columns) FROM song WHERE folderKey = ? AND folder = ? ORDER BY disc, track, nameKey, path",
                [NaturalKey.folder(folder), folder]
            )
        }
    }

    /// Folders in a folder, or all below it too, in the order of a walk; `nil` where the folder itself is not known.
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

    /// When a folder was last changed, where that is known.
    package func musicFolder(at path: String) async throws -> Date? {
        try await musicReader.read { database in
            try Int64.fetchOne(database, sql: "SELECT modified FROM songFolder WHERE path = ?", arguments: [path])
                .map(Date.init(nanoseconds:))
        }
    }

    /// The different values of `tag`, "" for songs without it, each with its values of `grouping` behind it; in the order of the
    /// last of these, then of the one before it, and at last of the value.
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

    /// Songs and seconds of each value of `grouping`, "" for songs without it; one count of all without a grouping.
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

/// One statement for songs.
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
