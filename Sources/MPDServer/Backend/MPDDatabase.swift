package import BackgrounderAPI
package import FoundationEssentials

/// The music database that MPD clients browse. Paths are relative to the music directory; "" is the directory itself.
///
/// Paths outside of the music directory cannot be named. Methods may wait for the disk, but never for the player. An
/// implementation reports changes of songs, stored playlists and the update job to an ``MPDHub``.
package protocol MPDDatabase: Sendable {
    /// Returns the contents of a folder: subfolders, then songs by disc, track and name, in natural order.
    ///
    /// - Throws: `MPDDatabaseError.noSuchEntry`.
    func entries(in folder: String) async throws -> [MPDEntry]

    /// Returns a folder and everything below it: its songs, then each subfolder, followed by its contents. The music
    /// directory itself has no entry.
    func tree(below folder: String) async throws -> [MPDEntry]

    /// Returns the song with this path.
    ///
    /// - Throws: `MPDDatabaseError.noSuchEntry`.
    func song(_ path: String) async throws -> Song

    /// Returns the songs with these paths, by path; paths without a song are left out.
    func songs(at paths: [String]) async throws -> [String: Song]

    /// Returns the songs that match `filter`, sorted by `tag` or in the order of ``tree(below:)``.
    ///
    /// - Parameter window: the positions to return in that order; `nil` for all.
    func songs(_ filter: SongFilter, sortedBy tag: MPDSortKey?, window: Range<Int>?) async throws -> [Song]

    /// Returns the distinct values of `tag` in the matching songs, each with its values of `grouping`. A song without
    /// the tag has "".
    ///
    /// The values are sorted by the last tag of `grouping` first, then by the one before it, and finally by `tag`.
    func values(
        of tag: SongTagName,
        _ filter: SongFilter,
        groupedBy grouping: [SongTagName]
    ) async throws -> [MPDTagValues]

    /// Returns the number and playing time of the matching songs, for each value of `grouping` or, without one, for all
    /// of them.
    func counts(_ filter: SongFilter, groupedBy grouping: SongTagName?) async throws -> [MPDCount]

    /// Returns the totals of the database.
    func statistics() async throws -> MPDStatistics

    /// Starts an update job for a file or folder.
    ///
    /// - Parameter rescan: whether to read files again that seem unchanged.
    /// - Returns: the number of the job, from 1.
    func update(_ path: String, rescan: Bool) async throws -> Int

    /// Returns the number of the running update job, or `nil`.
    func updateJob() async -> Int?

    /// Returns the picture in a file beside the song (cover.png, cover.jpg, ...).
    ///
    /// - Throws: `MPDDatabaseError.noPicture`.
    func folderPicture(of path: String) async throws -> MPDPicture

    /// Returns the picture inside the song's file.
    ///
    /// - Throws: `MPDDatabaseError.noPicture`.
    func embeddedPicture(of path: String) async throws -> MPDPicture

    /// Returns the absolute path of a song, for the queue.
    ///
    /// - Throws: `MPDDatabaseError.noSuchEntry`.
    func absolutePath(of path: String) async throws -> String

    /// Returns the absolute path of a song from the database, without looking it up again.
    func absolutePath(of song: Song) -> String

    /// Returns the path relative to the music directory; `nil` if `absolute` is outside of it.
    func relativePath(of absolute: String) -> String?

    /// The absolute path of the music directory.
    var directory: String { get }

    // MARK: Stickers: texts that clients attach to songs

    /// Returns the stickers of a song by name, all of them or those with one name.
    func stickers(of path: String, named name: String?) async throws -> [String: String]

    /// Returns the value of the sticker `name` of every song below `folder`, by path.
    func stickers(named name: String, below folder: String) async throws -> [String: String]

    /// Sets a sticker of a song.
    ///
    /// - Throws: `MPDDatabaseError.tooManyStickers`.
    func setSticker(_ name: String, to value: String, of path: String) async throws

    /// Removes a sticker of a song, or all of them.
    ///
    /// - Returns: whether there were any.
    func removeStickers(of path: String, named name: String?) async throws -> Bool

    // MARK: Stored playlists: FILE.m3u in the music directory

    /// Returns the stored playlists.
    func playlists() async throws -> [MPDPlaylist]

    /// Returns the entries of a stored playlist, in order.
    ///
    /// - Throws: `MPDDatabaseError.noSuchPlaylist`.
    func playlist(_ name: String) async throws -> [String]

    /// Writes a new playlist atomically.
    ///
    /// - Throws: `MPDDatabaseError.playlistExists`.
    func savePlaylist(_ name: String, _ paths: [String]) async throws

    /// Writes a playlist atomically, replacing an existing one.
    func replacePlaylist(_ name: String, _ paths: [String]) async throws

    /// Renames a playlist atomically.
    ///
    /// - Throws: `MPDDatabaseError.noSuchPlaylist`, or `MPDDatabaseError.playlistExists` if the new name is taken.
    func renamePlaylist(_ name: String, to new: String) async throws

    /// Deletes a playlist.
    func removePlaylist(_ name: String) async throws
}

extension MPDDatabase {
    /// Looks the paths up one by one; databases that have a faster way implement it themselves.
    package func songs(at paths: [String]) async throws -> [String: Song] {
        var songs: [String: Song] = [:]
        for path in paths {
            do { songs[path] = try await song(path) } catch MPDDatabaseError.noSuchEntry {}
        }
        return songs
    }
}

/// An entry of the music directory, as in `lsinfo`.
package enum MPDEntry: Hashable, Sendable {
    case folder(path: String, modified: Date?)
    case song(Song)
    case playlist(MPDPlaylist)
}

/// A stored playlist.
package struct MPDPlaylist: Hashable, Sendable {
    /// The file name without its extension.
    package var name: String
    package var modified: Date

    /// Creates the description of a playlist that was last changed at `modified`.
    package init(name: String, modified: Date) {
        self.name = name
        self.modified = modified
    }
}

/// A sort key of a search.
package enum MPDSortKey: Hashable, Sendable {
    case tag(SongTagName, descending: Bool)
    case modified(descending: Bool)
}

/// A value of a tag, with the values of the tags that it is grouped by.
package struct MPDTagValues: Hashable, Sendable {
    package var value: String
    /// The values of the grouping tags, in the requested order.
    package var group: [SongTag]

    /// Creates a row of a grouped list.
    package init(value: String, group: [SongTag]) {
        self.value = value
        self.group = group
    }
}

/// The number and playing time of songs, of one group or of all.
package struct MPDCount: Hashable, Sendable {
    package var group: SongTag?
    package var songs: Int
    /// The playing time in seconds.
    package var playtime: Double

    /// Creates the count of a group, or of all songs if `group` is `nil`.
    package init(group: SongTag? = nil, songs: Int, playtime: Double) {
        self.group = group
        self.songs = songs
        self.playtime = playtime
    }
}

/// The totals of the database, for the command `stats`.
package struct MPDStatistics: Hashable, Sendable {
    package var artists: Int
    package var albums: Int
    package var songs: Int
    /// The playing time of all songs in seconds.
    package var playtime: Double
    /// The time of the last change of the database.
    package var updated: Date?

    /// Creates totals from their parts.
    package init(artists: Int, albums: Int, songs: Int, playtime: Double, updated: Date?) {
        self.artists = artists
        self.albums = albums
        self.songs = songs
        self.playtime = playtime
        self.updated = updated
    }
}

/// A picture of at most 16 MiB.
package struct MPDPicture: Hashable, Sendable {
    /// The media type, such as `image/jpeg`; `nil` if it is unknown.
    package var type: String?
    package var bytes: [UInt8]

    /// Creates a picture from the bytes of its file.
    package init(type: String?, bytes: [UInt8]) {
        self.type = type
        self.bytes = bytes
    }
}

/// An error of the music database, which the protocol reports in MPD's words.
package enum MPDDatabaseError: Error, Hashable, Sendable {
    case noSuchEntry(String)
    case noPicture(String)
    case noSuchPlaylist(String)
    case playlistExists(String)
    /// The name of a playlist is empty, begins with a dot, or contains a slash or newline.
    case invalidName(String)
    case tooManyStickers
    case failed(String)
}
