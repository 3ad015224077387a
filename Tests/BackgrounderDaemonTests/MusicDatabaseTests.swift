import BackgrounderAPI
import Foundation
import Logging
import MPDServer
import MusicLibrary
import StateStore
import Synchronization
import TestSupport
import Testing

@testable import BackgrounderDaemon

/// The music database over a real directory watched by inotify.
@Suite struct MusicDatabaseTests {
    private let scratch: ScratchDirectory
    private let rig: MusicRig
    private var database: MusicDatabase { rig.database }

    init() throws {
        scratch = try ScratchDirectory()
        rig = try MusicRig(scratch)
    }

    @Test func `the directory's songs are indexed, except hidden ones and links that lead outside`() async throws {
        try rig.makeFolder("b/c")
        try rig.makeFolder("empty")
        try rig.makeFolder(".hidden")
        try rig.makeFolder("../outside")
        for name in ["10.flac", "2.flac", "b/c/x.flac", ".hidden/x.flac", "b/.x.flac", "../outside/x.flac"] {
            try await rig.add(name, artist: "Ann")
        }
        try await rig.add("b/line\nbreak.flac")
        try rig.link("outside.flac", to: "../outside/x.flac")
        try rig.link("outside", to: "../outside")
        try rig.link("b/again.flac", to: "../2.flac")
        try rig.link("b/loop", to: "..")
        try Data("no sound".utf8).write(to: URL(fileURLWithPath: rig.path("b/text.mp3")))
        try Data("no media".utf8).write(to: URL(fileURLWithPath: rig.path("b/text.txt")))
        rig.start()
        let all = ["2.flac", "10.flac", "b/again.flac", "b/c/x.flac"]
        try await rig.wait(forSongs: all)
        let song = try await database.song("b/c/x.flac")
        #expect(song.tags == [SongTag(.artist, "Ann")])
        #expect((song.duration, song.sampleRate, song.channels) == (0.5, 8_000, 1))
        #expect(try await words(database.entries(in: "")) == "b/ 2.flac 10.flac")
        #expect(try await words(database.entries(in: "b/")) == "b/c/ b/again.flac")
        #expect(try await words(database.tree(below: "b")) == "b/ b/again.flac b/c/ b/c/x.flac")
        #expect(try await words(database.tree(below: "")) == "2.flac 10.flac b/ b/again.flac b/c/ b/c/x.flac")
        #expect(try await database.statistics().songs == 4)
        #expect(rig.events.contains(.update))
        #expect(rig.events.contains(.database))
        #expect(database.relativePath(of: rig.path("b/c/x.flac")) == "b/c/x.flac")
        #expect(try await database.absolutePath(of: "b/c/x.flac") == rig.path("b/c/x.flac"))
    }

    @Test func `changes in the directory appear in the database`() async throws {
        try rig.makeFolder("a")
        try await rig.add("a/one.flac", artist: "Ann")
        rig.start()
        try await rig.wait(forSongs: ["a/one.flac"])
        try await rig.add("two.flac")
        try await rig.wait(forSongs: ["two.flac", "a/one.flac"])
        try await rig.add("a/one.flac", artist: "Bob and others")
        try await rig.wait(for: "the new tag") {
            try await database.song("a/one.flac").tags == [SongTag(.artist, "Bob and others")]
        }
        try rig.move("two.flac", to: "a/three.flac")
        try await rig.wait(forSongs: ["a/one.flac", "a/three.flac"])
        try rig.makeFolder("new/deep")
        try await rig.add("new/deep/four.flac")
        try await rig.wait(forSongs: ["a/one.flac", "a/three.flac", "new/deep/four.flac"])
        try rig.move("new", to: "a/moved")
        try await rig.wait(forSongs: ["a/one.flac", "a/three.flac", "a/moved/deep/four.flac"])
        try await rig.add("a/moved/deep/five.flac")
        try await rig.wait(forSongs: ["a/one.flac", "a/three.flac", "a/moved/deep/five.flac", "a/moved/deep/four.flac"])
        try rig.move("a", to: "../away")
        try await rig.wait(forSongs: [])
        try rig.move("../away/moved", to: "back")
        try await rig.wait(forSongs: ["back/deep/five.flac", "back/deep/four.flac"])
        try rig.remove("back")
        try await rig.wait(for: "an empty database") { try await database.entries(in: "").isEmpty }
    }

    /// The song is overwritten with text, or replaced by a link that leads out of the directory.
    @Test(arguments: [true, false])
    func `a song replaced by another kind of file is removed with an event; deleting that file posts none`(
        _ isOverwritten: Bool
    ) async throws {
        try rig.makeFolder("")
        try rig.makeFolder("../outside")
        for name in ["one.flac", "two.flac", "../outside/x.flac"] { try await rig.add(name) }
        rig.start()
        try await rig.wait(for: "the first scan") { rig.events.contains(.database) && rig.events.last == .update }
        if isOverwritten {
            try Data("no sound".utf8).write(to: URL(fileURLWithPath: rig.path("one.flac")))
        } else {
            try rig.link("../link", to: "../outside/x.flac")
            #expect(rename(rig.path("../link"), rig.path("one.flac")) == 0)
        }
        let words = "1 song; 0 new, 0 changed, 1 removed"
        try await rig.wait(for: words) { rig.log.lines.contains { $0.contains(words) } }
        try await rig.wait(for: "the second database event") { rig.events.count { $0 == .database } == 2 }
        try await rig.wait(forSongs: ["two.flac"])
        try rig.remove("one.flac")
        _ = try await database.update("", rescan: false)
        try await rig.wait(for: "the end of the job") { await database.updateJob() == nil }
        #expect(rig.events.count { $0 == .database } == 2)
        try await rig.add("one.flac")
        let added = "2 songs; 1 new, 0 changed, 0 removed"
        try await rig.wait(for: added) { rig.log.lines.contains { $0.contains(added) } }
    }

    @Test func `many changes need few transactions`() async throws {
        try rig.makeFolder("")
        rig.start()
        try await rig.wait(for: "the first scan") { rig.log.lines.count == 1 }
        try await rig.add("../song.flac")
        for index in 0..<300 {
            try FileManager.default.linkItem(atPath: scratch.file("song.flac"), toPath: rig.path("\(index).flac"))
        }
        try await rig.wait(for: "300 songs") { try await rig.songs().count == 300 }
        #expect(rig.events.count { $0 == .database } < 30)
    }

    @Test func `a missing music directory is indexed whenever it appears`() async throws {
        rig.start()
        try await rig.wait(for: "the log line") { rig.log.lines.contains { $0.contains("No such file or directory") } }
        #expect(try await database.entries(in: "").isEmpty)
        try rig.makeFolder("../beside/a")
        try await rig.add("../beside/a/one.flac")
        try rig.move("../beside", to: "")
        try await rig.wait(forSongs: ["a/one.flac"])
        try await rig.add("two.flac")
        try await rig.wait(forSongs: ["two.flac", "a/one.flac"])
        try rig.move("", to: "../away")
        try await rig.wait(forSongs: [])
        try rig.move("../away", to: "../music")
        try await rig.wait(forSongs: ["two.flac", "a/one.flac"])
    }

    @Test func `a rescan reads a file again even if its size and time are unchanged`() async throws {
        try rig.makeFolder("a")
        try await rig.add("a/one.flac", artist: "Ann")
        rig.start()
        try await rig.wait(forSongs: ["a/one.flac"])
        let modified = try await database.song("a/one.flac").modified
        try await rig.add("a/one.flac", artist: "Bob")
        var times = [timespec(), timespec(tv_sec: 1_000_000_000, tv_nsec: 0)]
        utimensat(AT_FDCWD, rig.path("a/one.flac"), &times, 0)
        try await rig.wait(for: "the other time") { try await database.song("a/one.flac").modified != modified }
        #expect(try await database.song("a/one.flac").tags == [SongTag(.artist, "Bob")])
        // The size and the time stay the same, so only reading the file reveals the new tag.
        let content = try Data(contentsOf: URL(fileURLWithPath: rig.path("a/one.flac")))
        let changed = content.replacing("ARTIST=Bob".utf8, with: "ARTIST=Cat".utf8)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: rig.path("a/one.flac")))
        try file.write(contentsOf: changed)
        futimens(file.fileDescriptor, &times)
        let number = try await database.update("a", rescan: true)
        #expect(number > 1)
        try await rig.wait(for: "the tag in the file") {
            try await database.song("a/one.flac").tags == [SongTag(.artist, "Cat")]
        }
        try await rig.wait(for: "the end of the job") { await database.updateJob() == nil }
    }

    /// Interrupted by the end of the process, or by a store that fails once.
    @Test(arguments: [true, false])
    func `an interrupted scan continues where it stopped`(_ isForGood: Bool) async throws {
        try rig.makeFolder("")
        try await rig.add("../song.flac")
        for index in 0..<500 {
            try FileManager.default.linkItem(atPath: scratch.file("song.flac"), toPath: rig.path("\(index).flac"))
        }
        let index = BreakingIndex(index: StoreIndex(store: rig.store), commits: 2, isForGood: isForGood)
        let events = SeenEvents()
        let library = MusicLibrary(rig.path(""), index: index, logger: Logger(label: "cut") { _ in rig.log }) { event in
            events.add(event)
        }
        let first = Task { try await library.run() }
        _ = try await events.changed.wait(for: "the failure", within: 30) {
            rig.log.lines.contains { $0.hasPrefix("error Cannot update the music database") } ? true : nil
        }
        // Two commits, each of 100 songs or of those read within 2 s.
        let kept = try rig.store.songCount()
        #expect((2...200).contains(kept))
        if isForGood {
            first.cancel()
            try await first.value
            rig.start()
        } else {
            library.update("", rescan: false)
        }
        let words = "500 songs; \(500 - kept) new, 0 changed"
        let changed = isForGood ? rig.seen.changed : events.changed
        _ = try await changed.wait(for: words, within: 30) {
            rig.log.lines.contains { $0.contains(words) } ? true : nil
        }
        #expect(try await rig.songs().count == 500)
        first.cancel()
        try await first.value
    }

    @Test func `no request can reach a path outside the music directory`() async throws {
        try rig.makeFolder("a")
        try rig.makeFolder("../outside")
        try await rig.add("a/one.flac")
        try await rig.add("../outside/one.flac")
        try Data([1]).write(to: URL(fileURLWithPath: scratch.file("outside/cover.jpg")))
        try rig.link("a/link", to: "../../outside")
        try rig.link("a/cover.jpg", to: "../../outside/cover.jpg")
        try rig.link("list.m3u", to: "../outside/one.flac")
        rig.start()
        try await rig.wait(forSongs: ["a/one.flac"])
        for path in [
            "..", "../outside/one.flac", "a/../../outside/one.flac", scratch.file("outside"), "a/link/one.flac",
            "a/./one.flac", "a\0",
        ] {
            await #expect(throws: MPDDatabaseError.self) { try await database.song(path) }
            await #expect(throws: MPDDatabaseError.self) { try await database.entries(in: path) }
            await #expect(throws: MPDDatabaseError.self) { try await database.tree(below: path) }
            await #expect(throws: MPDDatabaseError.self) { try await database.absolutePath(of: path) }
            await #expect(throws: MPDDatabaseError.self) { try await database.folderPicture(of: path) }
            await #expect(throws: MPDDatabaseError.self) { try await database.embeddedPicture(of: path) }
        }
        await #expect(throws: MPDDatabaseError.noPicture("a/one.flac")) {
            try await database.folderPicture(of: "a/one.flac")
        }
        await #expect(throws: MPDDatabaseError.noSuchEntry("../..")) {
            try await database.update("../..", rescan: false)
        }
        await #expect(throws: MPDDatabaseError.noSuchPlaylist("list")) { try await database.playlist("list") }
        #expect(database.relativePath(of: scratch.file("outside/one.flac")) == nil)
        #expect(database.relativePath(of: rig.path("../outside/one.flac")) == nil)
        #expect(database.relativePath(of: rig.scratch.file("musical/one.flac")) == nil)
        _ = try await database.update("a/link", rescan: true)
        try await rig.wait(for: "the end of the job") { await database.updateJob() == nil }
        #expect(try await rig.songs() == ["a/one.flac"])
    }

    @Test func `a song's picture is found in its folder or in the song's file`() async throws {
        try rig.makeFolder("a")
        try await rig.add("a/one.flac")
        rig.start()
        try await rig.wait(forSongs: ["a/one.flac"])
        await #expect(throws: MPDDatabaseError.noPicture("a/one.flac")) {
            try await database.embeddedPicture(of: "a/one.flac")
        }
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: rig.path("a/cover.jpg")))
        #expect(try await database.folderPicture(of: "a/one.flac") == MPDPicture(type: "image/jpeg", bytes: [1, 2, 3]))
        try Data([4]).write(to: URL(fileURLWithPath: rig.path("a/cover.png")))
        #expect(try await database.folderPicture(of: "a/one.flac") == MPDPicture(type: "image/png", bytes: [4]))
        try await Tool.run(
            "metaflac",
            "--import-picture-from=3|image/x-test||1x1x24|\(rig.path("a/cover.jpg"))",
            rig.path("a/one.flac")
        )
        #expect(
            try await database.embeddedPicture(of: "a/one.flac") == MPDPicture(type: "image/x-test", bytes: [1, 2, 3])
        )
    }

    @Test func `names are compared by their bytes: composed and decomposed letters differ`() async throws {
        let (composed, decomposed) = ("caf\u{E9}.flac", "cafe\u{301}.flac")
        func expect(_ names: [String]) async throws {
            let names = Set(names.map { Array($0.utf8) })
            try await rig.wait(for: "\(names.count) songs") {
                let songs = try await self.rig.songs().map { Array($0.utf8) }
                return songs.count == names.count && Set(songs) == names
            }
        }
        try rig.makeFolder("")
        try await rig.add(decomposed)
        rig.start()
        try await expect([decomposed])
        try rig.move(decomposed, to: composed)
        try await expect([composed])
        try await rig.add(decomposed)
        try await expect([composed, decomposed])
    }

    @Test func `a name that begins with two or three dots is not hidden`() async throws {
        try rig.makeFolder("...and justice")
        for name in ["...and justice/one.flac", "..two.flac", ".three.flac"] { try await rig.add(name) }
        rig.start()
        try await rig.wait(forSongs: ["..two.flac", "...and justice/one.flac"])
        try await rig.add("...and justice/four.flac")
        try await rig.wait(forSongs: ["..two.flac", "...and justice/four.flac", "...and justice/one.flac"])
        for path in ["..", "../x", "...and justice/../../x", "a/..", "./a", ".three.flac"] {
            #expect(MusicDirectory.normalized(path) == nil)
        }
    }

    @Test func `paths are compared by their bytes`() {
        let directory = MusicDirectory("/srv/müsik/")
        #expect(directory.relative("/srv/müsik/a/b.mp3") == "a/b.mp3")
        // The same name with a decomposed umlaut is another folder.
        #expect(directory.relative("/srv/mu\u{308}sik/a/b.mp3") == nil)
        #expect(directory.relative("/srv/müsik/../a") == nil)
        #expect(MusicDirectory.normalized("a//b/") == "a/b")
        #expect(MusicDirectory.normalized("a/\u{301}b") == "a/\u{301}b")
        for path in ["/a", "..", "a/..", "a/../\u{301}b", "./a", "a/.b", "a\0"] {
            #expect(MusicDirectory.normalized(path) == nil, "\(path)")
        }
        #expect(MusicDirectory("/").absolute("a") == "/a")
        #expect(MusicDirectory("/").relative("/a/b") == "a/b")
    }

    private func words(_ entries: [MPDEntry]) -> String {
        entries.map { entry in
            switch entry {
            case .folder(let path, _): path + "/"
            case .song(let song): song.path
            case .playlist(let playlist): playlist.name
            }
        }.joined(separator: " ")
    }
}

/// An index that fails after some commits, once or permanently.
private final class BreakingIndex: MusicIndex {
    private let index: StoreIndex
    private let isForGood: Bool
    private let left: Mutex<Int>

    struct Broken: Error {}

    init(index: StoreIndex, commits: Int, isForGood: Bool) {
        self.index = index
        self.isForGood = isForGood
        left = Mutex(commits)
    }

    func open(directory: String) throws { try index.open(directory: directory) }
    func folder(_ path: String) throws -> MusicFolder { try index.folder(path) }
    func count() throws -> Int { try index.count() }

    func apply(_ changes: MusicChanges) throws -> Int {
        let left = left.withLock { left in
            left -= 1
            return left
        }
        if left == -1 || (left < 0 && isForGood) { throw Broken() }
        return try index.apply(changes)
    }
}
