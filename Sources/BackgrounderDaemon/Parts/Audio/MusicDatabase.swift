import BackgrounderAPI
import FoundationEssentials
import Logging
import MPDServer
import MediaFiles
import MusicLibrary
import StateStore
import Synchronization

/// The music database: the files that the library watches, their tables in the store, and MPD's view of both.
final class MusicDatabase: Sendable {
    let library: MusicLibrary
    private let store: StateStore
    private let pictures: PictureReader
    private let lists: StoredPlaylists
    private let listener: Listener

    /// Creates the database and starts watching.
    ///
    /// - Parameters:
    ///   - directory: an absolute path; a missing folder is picked up when it appears.
    ///   - quietTime: how long the folder must be quiet before changes are read.
    init(directory: String, store: StateStore, quietTime: Duration = .milliseconds(500), logger: Logger) {
        let listener = Listener()
        library = MusicLibrary(directory, index: StoreIndex(store: store), quietTime: quietTime, logger: logger) {
            event in
            listener.call(event)
        }
        pictures = PictureReader(library.directory)
        lists = StoredPlaylists(library.directory)
        self.store = store
        self.listener = listener
    }

    /// Reports all further events to `onEvent`, which is called on the library's thread.
    func connect(_ onEvent: @escaping @Sendable (MusicLibraryEvent) -> Void) { listener.connect(onEvent) }

    private final class Listener: Sendable {
        private let onEvent = Mutex<(@Sendable (MusicLibraryEvent) -> Void)?>(nil)

        func connect(_ new: @escaping @Sendable (MusicLibraryEvent) -> Void) { onEvent.withLock { $0 = new } }

        func call(_ event: MusicLibraryEvent) { onEvent.withLock { $0 }?(event) }
    }
}

/// The library's index, backed by the store.
struct StoreIndex: MusicIndex {
    let store: StateStore

    func open(directory: String) throws { try store.openMusic(directory: directory) }
    func folder(_ path: String) throws -> MusicFolder { try store.musicFolder(path) }
    func count() throws -> Int { try store.songCount() }
    func apply(_ changes: MusicChanges) throws -> Int { try store.apply(changes, at: Date()) }
}

extension MusicDatabase: MPDDatabase {
    func entries(in folder: String) async throws -> [MPDEntry] {
        let folder = try normalized(folder)
        guard let folders = try await known({ try await store.musicFolders(in: folder) }) else {
            throw MPDDatabaseError.noSuchEntry(folder)
        }
        let songs = try await known { try await store.songs(in: folder) }
        return folders.map { .folder(path: $0.path, modified: $0.modified) } + songs.map { .song($0) }
    }

    func tree(below folder: String) async throws -> [MPDEntry] {
        let folder = try normalized(folder)
        let parent = try await entries(in: folder)
        var songs = try await known { try await store.songs(.base(folder)) }[...]
        guard let below = try await known({ try await store.musicFolders(in: folder, deep: true) }) else {
            return parent
        }
        var entries: [MPDEntry] = []
        entries.reserveCapacity(songs.count + below.count + 1)
        func append(_ path: String) {
            // Folders and songs are both in depth-first order.
            while let song = songs.first, song.folder == path {
                entries.append(.song(song))
                songs.removeFirst()
            }
        }
        if !folder.isEmpty {
            let own = try await known { try await store.musicFolder(at: folder) }
            entries.append(.folder(path: folder, modified: own))
        }
        append(folder)
        for (path, modified) in below {
            entries.append(.folder(path: path, modified: modified))
            append(path)
        }
        // A commit may have happened between the two queries.
        return entries + songs.map { .song($0) }
    }

    func song(_ path: String) async throws -> Song {
        let path = try normalized(path)
        guard let song = try await known({ try await store.song(path) }) else {
            throw MPDDatabaseError.noSuchEntry(path)
        }
        return song
    }

    func songs(at paths: [String]) async throws -> [String: Song] {
        try await known { try await store.songs(at: paths) }
    }

    func songs(_ filter: SongFilter, sortedBy key: MPDSortKey?, window: Range<Int>?) async throws -> [Song] {
        let (order, descending): (SongOrder?, Bool) =
            switch key {
            case nil: (nil, false)
            case .tag(let name, let descending): (.tag(name), descending)
            case .modified(let descending): (.modified, descending)
            }
        return try await known {
            try await store.songs(filter, by: order, descending: descending, window: window)
        }
    }

    func values(
        of tag: SongTagName,
        _ filter: SongFilter,
        groupedBy grouping: [SongTagName]
    ) async throws -> [MPDTagValues] {
        try await known { try await store.tagValues(tag, filter, groupedBy: grouping) }.map { row in
            MPDTagValues(value: row[0], group: zip(grouping, row.dropFirst()).map { SongTag($0, $1) })
        }
    }

    func counts(_ filter: SongFilter, groupedBy grouping: SongTagName?) async throws -> [MPDCount] {
        try await known { try await store.songCounts(filter, groupedBy: grouping) }.map { count in
            MPDCount(
                group: grouping.map { SongTag($0, count.value) },
                songs: count.songs,
                playtime: count.playtime
            )
        }
    }

    func statistics() async throws -> MPDStatistics {
        let statistics = try await known { try await store.musicStatistics() }
        return MPDStatistics(
            artists: statistics.artists,
            albums: statistics.albums,
            songs: statistics.songs,
            playtime: statistics.playtime,
            updated: statistics.updated
        )
    }

    func update(_ path: String, rescan: Bool) async throws -> Int {
        library.update(try normalized(path), rescan: rescan)
    }

    func updateJob() async -> Int? { library.updateJob }

    func folderPicture(of path: String) async throws -> MPDPicture {
        try picture(await pictures.cover(of: normalized(path)), of: path)
    }

    func embeddedPicture(of path: String) async throws -> MPDPicture {
        try picture(await pictures.embedded(in: normalized(path)), of: path)
    }

    func absolutePath(of path: String) async throws -> String { library.directory.absolute(try await song(path).path) }

    /// Returns the absolute path of a file or folder; `nil` if `path` is not a valid path below the music directory.
    func absolutePath(ofRelative path: String) -> String? {
        MusicDirectory.normalized(path).flatMap { $0.isEmpty ? nil : library.directory.absolute($0) }
    }

    func absolutePath(of song: Song) -> String { library.directory.absolute(song.path) }

    func relativePath(of absolute: String) -> String? { library.directory.relative(absolute) }

    private func normalized(_ path: String) throws -> String {
        guard let path = MusicDirectory.normalized(path) else { throw MPDDatabaseError.noSuchEntry(path) }
        return path
    }

    private func picture(_ picture: Picture?, of path: String) throws -> MPDPicture {
        guard let picture else { throw MPDDatabaseError.noPicture(path) }
        return MPDPicture(type: picture.type, bytes: picture.bytes)
    }

    /// Returns the result of `ask`, translating the store's errors into those of the protocol.
    private func known<Value>(_ ask: () async throws -> Value) async throws -> Value {
        do {
            return try await ask()
        } catch {
            throw MPDDatabaseError.failed("cannot read the music database: \(error)")
        }
    }
}

extension MusicDatabase {
    var directory: String { library.directory.absolute("") }

    func stickers(of path: String, named name: String?) async throws -> [String: String] {
        try await known { try await store.stickers(of: path, named: name) }
    }

    func stickers(named name: String, below folder: String) async throws -> [String: String] {
        let folder = try normalized(folder)
        return try await known { try await store.stickers(named: name, below: folder) }
    }

    func setSticker(_ name: String, to value: String, of path: String) async throws {
        let isSet = try await known { try await store.setSticker(name, to: value, of: path) }
        guard isSet else { throw MPDDatabaseError.tooManyStickers }
    }

    func removeStickers(of path: String, named name: String?) async throws -> Bool {
        try await known { try await store.removeStickers(of: path, named: name) }
    }
}

extension MusicDatabase {
    func playlists() async throws -> [MPDPlaylist] {
        await lists.all().map { MPDPlaylist(name: $0.name, modified: $0.modified) }
    }

    func playlist(_ name: String) async throws -> [String] {
        let locations = try await lists.translated { try await $0.locations(name) }
        return locations.map { library.directory.relative($0) ?? $0 }
    }

    func savePlaylist(_ name: String, _ paths: [String]) async throws {
        try await lists.translated { try await $0.save(name, paths) }
    }

    func replacePlaylist(_ name: String, _ paths: [String]) async throws {
        try await lists.translated { try await $0.save(name, paths, replacing: true) }
    }

    func renamePlaylist(_ name: String, to new: String) async throws {
        try await lists.translated { try await $0.rename(name, to: new) }
    }

    func removePlaylist(_ name: String) async throws { try await lists.translated { try await $0.remove(name) } }
}

extension StoredPlaylists {
    /// Returns the result of `body`, translating its errors into those of the protocol.
    fileprivate nonisolated func translated<Value: Sendable>(
        _ body: (StoredPlaylists) async throws -> Value
    ) async throws -> Value {
        do {
            return try await body(self)
        } catch let failure as Failure {
            throw switch failure {
            case .invalidName(let name): MPDDatabaseError.invalidName(name)
            case .noSuchPlaylist(let name): MPDDatabaseError.noSuchPlaylist(name)
            case .exists(let name): MPDDatabaseError.playlistExists(name)
            case .failed(let path, let reason): MPDDatabaseError.failed("\(path): \(reason)")
            }
        }
    }
}

extension Song {
    /// The path of its folder.
    fileprivate var folder: Substring { path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[..<$0] } ?? "" }
}
