package import BackgrounderAPI
package import FoundationEssentials

/// The music database, as the protocol needs it: paths are relative to the music directory, "" is the directory itself.
///
/// Whoever implements it tells an ``MPDHub`` when songs, stored playlists or the update job change.
/// Nothing outside of that directory can be named. All of it may wait for a disk, and never for the player.
package protocol MPDDatabase: Sendable {
    /// What lies in a folder: folders, then songs by disc, track and name, as people count. Throws `MPDDatabaseError.noSuchEntry`.
    func entries(in folder: String) async throws -> [MPDEntry]

    /// A folder, but for the music directory itself, and all that lies below it: its songs, then each folder before what is in it.
    func tree(below folder: String) async throws -> [MPDEntry]

    /// The song with this path. Throws `MPDDatabaseError.noSuchEntry`.
    func song(_ path: String) async throws -> Song

    /// The songs that these paths name, by path; what is no song is left out.
    func songs(at paths: [String]) async throws -> [String: Song]

    /// Songs that pass `filter`, in the order of ``tree(below:)`` or by a tag, and of these the ones of `window`.
    func songs(_ filter: SongFilter, sortedBy tag: MPDSortKey?, window: Range<Int>?) async throws -> [Song]

    /// The different values of `tag` in the songs that pass, each with its values of `grouping`; sorted by the last of these, then
    /// by the one before it, and at last by the value. A song without the tag has "".
    func values(
        of tag: SongTagName,
        _ filter: SongFilter,
        groupedBy grouping: [SongTagName]
    ) async throws -> [MPDTagValues]

    /// Songs and seconds, for each value of `grouping` or, without one, for all together.
    func counts(_ filter: SongFilter, groupedBy grouping: SongTagName?) async throws -> [MPDCount]

    func statistics() async throws -> MPDStatistics

    /// Looks at a file or folder again; `rescan` also where nothing seems to have changed. The job's number, from 1.
    func update(_ path: String, rescan: Bool) async throws -> Int

    /// The job that is under way.
    func updateJob() async -> Int?

    /// A picture that lies beside the song as a file (cover.png, cover.jpg, ...). Throws `MPDDatabaseError.noPicture`.
    func folderPicture(of path: String) async throws -> MPDPicture

    /// A picture inside of the song's file. Throws `MPDDatabaseError.noPicture`.
    func embeddedPicture(of path: String) async throws -> MPDPicture

    /// The absolute path of a song, for the queue; throws `MPDDatabaseError.noSuchEntry`.
    func absolutePath(of path: String) async throws -> String

    /// The same for a song that the database gave; it is not looked up again.
    func absolutePath(of song: Song) -> String

    /// The path in the music directory of an absolute one; `nil` where it lies elsewhere.
    func relativePath(of absolute: String) -> String?

    // MARK: Stored playlists: FILE.m3u in the music directory

    func playlists() async throws -> [MPDPlaylist]

    /// What a stored playlist names, in its order. Throws `MPDDatabaseError.noSuchPlaylist`.
    func playlist(_ name: String) async throws -> [String]

    /// Writes a playlist, whole or not at all. Throws `MPDDatabaseError.playlistExists` where there is one.
    func savePlaylist(_ name: String, _ paths: [String]) async throws

    /// Writes a playlist, whole or not at all, in the place of one that may be there.
    func replacePlaylist(_ name: String, _ paths: [String]) async throws

    /// Gives a playlist another name, at once. Throws `MPDDatabaseError.noSuchPlaylist`, and `MPDDatabaseError.playlistExists`
    /// where there is one of the new name.
    func renamePlaylist(_ name: String, to new: String) async throws

    func removePlaylist(_ name: String) async throws
}

extension MPDDatabase {
    package func songs(at paths: [String]) async throws -> [String: Song] {
        var songs: [String: Song] = [:]
        for path in paths {
            do { songs[path] = try await song(path) } catch MPDDatabaseError.noSuchEntry {}
        }
        return songs
    }
}

/// A line group of lsinfo.
package enum MPDEntry: Hashable, Sendable {
    case folder(path: String, modified: Date?)
    case song(Song)
    case playlist(MPDPlaylist)
}

package struct MPDPlaylist: Hashable, Sendable {
    /// Without its extension.
    package var name: String
    package var modified: Date

    package init(name: String, modified: Date) {
        self.name = name
        self.modified = modified
    }
}

package enum MPDSortKey: Hashable, Sendable {
    case tag(SongTagName, descending: Bool)
    case modified(descending: Bool)
}

package struct MPDTagValues: Hashable, Sendable {
    package var value: String
    /// In the order that was asked for.
    package var group: [SongTag]

    package init(value: String, group: [SongTag]) {
        self.value = value
        self.group = group
    }
}

package struct MPDCount: Hashable, Sendable {
    package var group: SongTag?
    package var songs: Int
    /// Seconds.
    package var playtime: Double

    package init(group: SongTag? = nil, songs: Int, playtime: Double) {
        self.group = group
        self.songs = songs
        self.playtime = playtime
    }
}

package struct MPDStatistics: Hashable, Sendable {
    package var artists: Int
    package var albums: Int
    package var songs: Int
    /// Seconds of all songs.
    package var playtime: Double
    /// The last change of the database.
    package var updated: Date?

    package init(artists: Int, albums: Int, songs: Int, playtime: Double, updated: Date?) {
        self.artists = artists
        self.albums = albums
        self.songs = songs
        self.playtime = playtime
        self.updated = updated
    }
}

/// A picture, of at most 16 MiB.
package struct MPDPicture: Hashable, Sendable {
    /// `image/jpeg`, where it is known.
    package var type: String?
    package var bytes: [UInt8]

    package init(type: String?, bytes: [UInt8]) {
        self.type = type
        self.bytes = bytes
    }
}

package enum MPDDatabaseError: Error, Hashable, Sendable {
    case noSuchEntry(String)
    case noPicture(String)
    case noSuchPlaylist(String)
    case playlistExists(String)
    /// A name with a slash, a newline, a dot in front, or none at all.
    case invalidName(String)
    case failed(String)
}
