import BackgrounderAPI
import FoundationEssentials
import MPDServer
import Synchronization

/// A music database of the songs that a test passes to it.
final class ListDatabase: MPDDatabase {
    private let all: [Song]
    private let stored = Mutex<[String: [String]]>(["mix": ["albums/one.mp3", "gone.mp3"]])
    static let root = "/music/"
    private static let date = Date(timeIntervalSince1970: 0)

    init(songs: [Song]) {
        all = songs
    }

    /// A new database for each test, since some tests save playlists.
    static var sample: ListDatabase {
        ListDatabase(songs: [
            song("albums/one.mp3", "Ann", "First", "A"), song("albums/two.mp3", "Ann", "Second", "A"),
            song("albums/three.mp3", "Bob", "Third", "B"), song("plain.wav", nil, nil, nil),
        ])
    }

    static func song(_ path: String, _ artist: String?, _ title: String?, _ album: String?) -> Song {
        let tags = [(SongTagName.title, title), (.artist, artist), (.album, album)]
        return Song(
            path: path,
            modified: date,
            duration: 12.0416,
            sampleRate: 44_100,
            channels: 2,
            tags: tags.compactMap { name, value in value.map { SongTag(name, $0) } }
        )
    }

    private func below(_ folder: String) throws(MPDDatabaseError) -> [Song] {
        let songs = all.filter { folder.isEmpty || $0.path.hasPrefix(folder + "/") }
        guard !songs.isEmpty || folder.isEmpty else { throw .noSuchEntry(folder) }
        return songs
    }

    func entries(in folder: String) throws -> [MPDEntry] {
        let prefix = folder.isEmpty ? 0 : folder.utf8.count + 1
        let songs = try below(folder)
        let folders = Set(
            songs.compactMap { song -> String? in
                let rest = song.path.dropFirst(prefix)
                return rest.firstIndex(of: "/").map { String(song.path.prefix(prefix)) + rest[..<$0] }
            }
        )
        return folders.sorted().map { .folder(path: $0, modified: Self.date) }
            + songs.filter { !$0.path.dropFirst(prefix).contains("/") }.map(MPDEntry.song)
    }

    func tree(below folder: String) throws -> [MPDEntry] {
        let songs = try below(folder).map(MPDEntry.song)
        return folder.isEmpty ? [.folder(path: "albums", modified: nil)] + songs : songs
    }

    func song(_ path: String) throws -> Song {
        guard let song = all.first(where: { $0.path == path }) else { throw MPDDatabaseError.noSuchEntry(path) }
        return song
    }

    func songs(_ filter: SongFilter, sortedBy tag: MPDSortKey?, window: Range<Int>?) -> [Song] {
        let songs = all.filter(filter.matches)
        return window.map { Array(songs[$0.clamped(to: 0..<songs.count)]) } ?? songs
    }

    func values(of tag: SongTagName, _ filter: SongFilter, groupedBy grouping: [SongTagName]) -> [MPDTagValues] {
        func value(_ song: Song, _ name: SongTagName) -> String { song.tags.first { $0.name == name }?.value ?? "" }
        return Array(
            Set(
                all.filter(filter.matches).map { song in
                    MPDTagValues(value: value(song, tag), group: grouping.map { SongTag($0, value(song, $0)) })
                }
            )
        )
    }

    func counts(_ filter: SongFilter, groupedBy grouping: SongTagName?) -> [MPDCount] {
        let songs = all.filter(filter.matches)
        return [MPDCount(songs: songs.count, playtime: songs.reduce(0) { $0 + ($1.duration ?? 0) })]
    }

    func statistics() -> MPDStatistics {
        MPDStatistics(artists: 2, albums: 2, songs: all.count, playtime: 48.16, updated: Self.date)
    }

    func update(_ path: String, rescan: Bool) -> Int { 1 }
    func updateJob() -> Int? { nil }

    func folderPicture(of path: String) throws -> MPDPicture {
        guard path.hasPrefix("albums/") else { throw MPDDatabaseError.noPicture(path) }
        return MPDPicture(type: nil, bytes: (0..<200).map { UInt8(ascii: "a") + UInt8($0 % 26) })
    }

    func embeddedPicture(of path: String) throws -> MPDPicture {
        guard path == "albums/one.mp3" else { throw MPDDatabaseError.noPicture(path) }
        return MPDPicture(type: "image/png", bytes: Array("PNG".utf8))
    }

    var directory: String { "/music" }
    private let attached = Mutex<[String: [String: String]]>([:])

    func stickers(of path: String, named name: String?) -> [String: String] {
        attached.withLock { $0[path] ?? [:] }.filter { name == nil || $0.key == name }
    }

    func stickers(named name: String, below folder: String) -> [String: String] {
        attached.withLock { $0.compactMapValues { $0[name] } }.filter {
            folder.isEmpty || $0.key.hasPrefix(folder + "/")
        }
    }

    func setSticker(_ name: String, to value: String, of path: String) {
        attached.withLock { $0[path, default: [:]][name] = value }
    }

    func removeStickers(of path: String, named name: String?) -> Bool {
        let stickers = stickers(of: path, named: name)
        attached.withLock { all in for name in stickers.keys { all[path]?[name] = nil } }
        return !stickers.isEmpty
    }

    func absolutePath(of path: String) throws -> String { Self.root + (try song(path)).path }
    func absolutePath(of song: Song) -> String { Self.root + song.path }

    func relativePath(of absolute: String) -> String? {
        absolute.hasPrefix(Self.root) ? String(absolute.dropFirst(Self.root.count)) : nil
    }

    func playlists() -> [MPDPlaylist] {
        stored.withLock { $0.keys.sorted().map { MPDPlaylist(name: $0, modified: Self.date) } }
    }

    func playlist(_ name: String) throws -> [String] {
        guard let paths = stored.withLock({ $0[name] }) else { throw MPDDatabaseError.noSuchPlaylist(name) }
        return paths
    }

    private static func check(_ name: String) throws(MPDDatabaseError) {
        guard !name.isEmpty, !name.contains("/") else { throw .invalidName(name) }
    }

    func savePlaylist(_ name: String, _ paths: [String]) throws {
        try Self.check(name)
        try stored.withLock { stored in
            guard stored[name] == nil else { throw MPDDatabaseError.playlistExists(name) }
            stored[name] = paths
        }
    }

    func replacePlaylist(_ name: String, _ paths: [String]) throws {
        try Self.check(name)
        stored.withLock { $0[name] = paths }
    }

    func renamePlaylist(_ name: String, to new: String) throws {
        try Self.check(new)
        try stored.withLock { stored in
            guard let paths = stored[name] else { throw MPDDatabaseError.noSuchPlaylist(name) }
            guard stored[new] == nil else { throw MPDDatabaseError.playlistExists(new) }
            stored[name] = nil
            stored[new] = paths
        }
    }

    func removePlaylist(_ name: String) throws {
        guard stored.withLock({ $0.removeValue(forKey: name) }) != nil else {
            throw MPDDatabaseError.noSuchPlaylist(name)
        }
    }
}
