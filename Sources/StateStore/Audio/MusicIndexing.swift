package import BackgrounderAPI
package import FoundationEssentials
import GRDB
import SystemSupport

/// The reads and writes of the music directory's scanner. All of them block the calling thread while the disk works.
extension StateStore {
    /// Prepares the music database for `directory`; empties it if it belongs to another directory.
    package func openMusic(directory: String) throws {
        let before = try musicReader.sync { try String.fetchOne($0, sql: "SELECT directory FROM music") }
        if before == directory { return }
        _ = try removeMusic(below: "")
        try write(durable: false) { database in
            try database.execute(sql: "DELETE FROM music")
            try database.execute(sql: "INSERT INTO music (directory) VALUES (?)", arguments: [directory])
        }
    }

    /// Returns the files and subfolders of `folder` that the music database knows.
    package func musicFolder(_ folder: String) throws -> MusicFolder {
        try musicReader.sync { database in
            var known = MusicFolder()
            for (isSilent, sql) in [
                (false, "SELECT path, modified, size FROM song WHERE folderKey = ?2 AND folder = ?1"),
                (true, "SELECT path, modified, size FROM silentFile WHERE folder = ?1 AND ?2 IS NOT NULL"),
            ] {
                let rows = try Row.fetchCursor(
                    database.cachedStatement(sql: sql),
                    arguments: [folder, NaturalKey.folder(folder)]
                )
                while let row = try rows.next() {
                    let name = FileName(splitPath(row["path"]).name)
                    known.files[name] = FileSignature(modified: row["modified"], size: row["size"])
                    if isSilent { known.silent.insert(name) }
                }
            }
            let folders = try String.fetchAll(
                database.cachedStatement(sql: "SELECT path FROM songFolder WHERE parent = ?"),
                arguments: [folder]
            )
            known.folders = Set(folders.map { FileName(splitPath($0).name) })
            return known
        }
    }

    /// Returns the number of songs in the music database.
    package func songCount() throws -> Int {
        try musicReader.sync { try Int.fetchOne($0, sql: "SELECT count(*) FROM song") ?? 0 }
    }

    /// Commits `changes`: removed folders in portions, then everything else in one transaction.
    ///
    /// - Returns: the number of songs that were in the removed folders.
    package func apply(_ changes: MusicChanges, at time: Date) throws -> Int {
        var gone = 0
        for folder in changes.removedFolders { gone += try removeMusic(below: folder) }
        try write(durable: false) { database in
            var folders = Set(changes.removedFolders.map { splitPath($0).folder })
            for path in changes.removedFiles + changes.silent.map(\.path) {
                try database.cachedStatement(sql: "DELETE FROM song WHERE path = ?").execute(arguments: [path])
                try database.cachedStatement(sql: "DELETE FROM silentFile WHERE path = ?").execute(arguments: [path])
                folders.insert(splitPath(path).folder)
            }
            for (path, signature) in changes.silent {
                try database.cachedStatement(sql: "INSERT INTO silentFile VALUES (?, ?, ?, ?)").execute(
                    arguments: [path, splitPath(path).folder, signature.modified, signature.size]
                )
            }
            var insertion = SongInsertion(database)
            for (song, signature) in changes.songs { try insertion.insert(song, signature) }
            for (folder, modified) in changes.folders {
                try database.cachedStatement(
                    sql: "UPDATE songFolder SET modified = ?1 WHERE path = ?2 AND modified IS NOT ?1"
                ).execute(arguments: [modified, folder])
            }
            try database.removeEmptyMusicFolders(folders)
            if changes.count > 0 {
                try database.execute(sql: "UPDATE music SET updated = ?", arguments: [time.milliseconds])
            }
        }
        return gone
    }

    /// Removes a folder and everything in it, in small portions, so that other writers never wait long. "" is the music
    /// directory.
    ///
    /// - Returns: the number of removed songs.
    private func removeMusic(below folder: String) throws -> Int {
        let (from, to) = folder.isEmpty ? ("", "\u{10FFFF}") : pathsBelow(folder)
        var count = 0
        var portion = 0
        repeat {
            portion = try write(durable: false) { database in
                try database.cachedStatement(
                    sql: "DELETE FROM song WHERE id IN (SELECT id FROM song WHERE path >= ? AND path < ? LIMIT 200)"
                ).execute(arguments: [from, to])
                return database.changesCount
            }
            count += portion
        } while portion > 0
        try write(durable: false) { database in
            for table in ["songFolder", "silentFile"] {
                try database.cachedStatement(sql: "DELETE FROM \(table) WHERE path = ? OR (path >= ? AND path < ?)")
                    .execute(arguments: [folder, from, to])
            }
        }
        return count
    }
}

extension Database {
    /// Removes those of `folders` and of their parent folders that have no song.
    fileprivate func removeEmptyMusicFolders(_ folders: Set<String>) throws {
        let first = try cachedStatement(sql: "SELECT 1 FROM song WHERE path >= ? AND path < ? LIMIT 1")
        let removal = try cachedStatement(sql: "DELETE FROM songFolder WHERE path = ?")
        for var folder in folders {
            while !folder.isEmpty {
                let (from, to) = pathsBelow(folder)
                if try Int.fetchOne(first, arguments: [from, to]) != nil { break }
                try removal.execute(arguments: [folder])
                folder = splitPath(folder).folder
            }
        }
    }
}

/// Inserts songs, replacing those with the same paths.
private struct SongInsertion {
    private let database: Database
    /// Folders that are known to have a row.
    private var folders: Set<String> = [""]

    init(_ database: Database) { self.database = database }

    mutating func insert(_ song: Song, _ signature: FileSignature) throws {
        let (folder, name) = splitPath(song.path)
        try insertFolders(folder)
        try database.cachedStatement(sql: "DELETE FROM silentFile WHERE path = ?").execute(arguments: [song.path])
        let id = try Int64.fetchOne(
            database.cachedStatement(
                sql: """
                    INSERT INTO song VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    ON CONFLICT (path) DO UPDATE SET disc = excluded.disc, track = excluded.track,
                        modified = excluded.modified, size = excluded.size, duration = excluded.duration,
                        sampleRate = excluded.sampleRate, channels = excluded.channels, tags = excluded.tags
                    RETURNING id
                    """
            ),
            arguments: [
                song.path, folder, NaturalKey.folder(folder), NaturalKey.name(name), NaturalKey.fold(song.path),
                song.number(.disc), song.number(.track), signature.modified, signature.size, song.duration,
                song.sampleRate, song.channels, SongText.text(song.tags),
            ]
        )
        guard let id else { return }
        try database.cachedStatement(sql: "DELETE FROM songTag WHERE song = ?").execute(arguments: [id])
        let insertion = try database.cachedStatement(sql: "INSERT INTO songTag VALUES (?, ?, ?, ?, ?)")
        for (ordinal, tag) in song.searchedTags {
            try insertion.execute(
                arguments: [id, tag.name.rawValue, ordinal, tag.value, NaturalKey.fold(tag.value)]
            )
        }
    }

    private mutating func insertFolders(_ path: String) throws {
        var folder = path
        while folders.insert(folder).inserted {
            let parent = splitPath(folder).folder
            try database.cachedStatement(sql: "INSERT OR IGNORE INTO songFolder VALUES (?, ?, ?, NULL)").execute(
                arguments: [folder, parent, NaturalKey.folder(folder)]
            )
            folder = parent
        }
    }
}

extension Song {
    fileprivate func number(_ name: SongTagName) -> Int {
        tags.first { $0.name == name }.flatMap { Int($0.value) } ?? 0
    }

    /// The tags with their ordinals, and the artists as album artists, from ordinal 1,000 on, if the song has no album
    /// artist.
    fileprivate var searchedTags: [(Int, SongTag)] {
        var searched = tags.filter { !$0.value.isEmpty }.enumerated().map { ($0.offset, $0.element) }
        if !tags.contains(where: { $0.name == .albumArtist }) {
            for (ordinal, tag) in searched where tag.name == .artist {
                searched.append((1_000 + ordinal, SongTag(.albumArtist, tag.value)))
            }
        }
        return searched
    }
}
