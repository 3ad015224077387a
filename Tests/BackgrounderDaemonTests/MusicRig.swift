import BackgrounderAPI
import Foundation
import Logging
import MusicLibrary
import StateStore
import Synchronization
import TestSupport

@testable import BackgrounderDaemon

/// A music directory, its database, and ways to wait for the state of the database.
final class MusicRig: Sendable {
    let scratch: ScratchDirectory
    let store: StateStore
    let database: MusicDatabase
    let log = LogLines()
    let seen = SeenEvents()
    private let running: Mutex<Task<Void, any Error>?> = .init(nil)

    init(_ scratch: ScratchDirectory) throws {
        self.scratch = scratch
        store = try StateStore(
            path: scratch.file("state.sqlite"),
            syncInterval: .seconds(3600),
            retention: .seconds(3600),
            onEvent: { _ in }
        )
        let log = log
        database = MusicDatabase(
            directory: scratch.file("music"),
            store: store,
            quietTime: .milliseconds(30),
            logger: Logger(label: "music") { _ in log }
        )
        database.connect { [seen] event in seen.add(event) }
    }

    deinit { running.withLock { $0 }?.cancel() }

    func start() {
        running.withLock { task in task = Task { [library = database.library] in try await library.run() } }
    }

    var events: [MusicLibraryEvent] { seen.all }

    /// Waits until the database has exactly these songs, in the order of a directory walk.
    func wait(forSongs paths: [String]) async throws {
        let last = Mutex<[String]>([])
        do {
            try await wait(for: "songs \(paths)") {
                let songs = try await self.songs()
                last.withLock { $0 = songs }
                return songs == paths
            }
        } catch is DeadlinePassed {
            throw OtherSongs(wanted: paths, found: last.withLock { $0 })
        }
    }

    struct OtherSongs: Error {
        var wanted: [String]
        var found: [String]
    }

    func wait(for what: String, _ condition: () async throws -> Bool) async throws {
        _ = try await seen.changed.wait(for: what, within: 30) { try await condition() ? true : nil }
    }

    func songs() async throws -> [String] {
        try await database.songs(.all, sortedBy: nil, window: nil).map(\.path)
    }

    /// Returns the path of `name` in the music directory, or next to it if `name` begins with `../`.
    func path(_ name: String) -> String {
        if name.hasPrefix("../") { return scratch.file(String(name.dropFirst(3))) }
        return scratch.file(name.isEmpty ? "music" : "music/\(name)")
    }

    func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
    }

    /// Writes half a second of a tone as FLAC to `path(name)`; the tone is synthesized once.
    func add(_ name: String, artist: String? = nil) async throws {
        let good = scratch.file("good.flac")
        if !FileManager.default.fileExists(atPath: good) {
            try await Tool.run("sox", "-D", "-n", "-r", "8000", "-b", "16", good, "synth", "0.5", "sine", "440")
        }
        let copy = scratch.file("copy.flac")
        try? FileManager.default.removeItem(atPath: copy)
        try FileManager.default.copyItem(atPath: good, toPath: copy)
        if let artist { try await Tool.run("metaflac", "--remove-all-tags", "--set-tag=ARTIST=\(artist)", copy) }
        try Data(contentsOf: URL(fileURLWithPath: copy)).write(to: URL(fileURLWithPath: path(name)))
    }

    func move(_ name: String, to new: String) throws {
        try FileManager.default.moveItem(atPath: path(name), toPath: path(new))
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path(name)) }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: target)
    }
}

/// The events that the database has sent.
final class SeenEvents: Sendable {
    let changed = Signal()
    private let events = Mutex<[MusicLibraryEvent]>([])
    var all: [MusicLibraryEvent] { events.withLock { $0 } }

    func add(_ event: MusicLibraryEvent) {
        events.withLock { $0.append(event) }
        changed.post()
    }
}
