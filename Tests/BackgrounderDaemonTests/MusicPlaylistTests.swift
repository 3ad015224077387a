import Foundation
import MPDServer
import MusicLibrary
import TestSupport
import Testing

@testable import BackgrounderDaemon

/// The playlists that MPD clients store, in a real directory.
@Suite struct MusicPlaylistTests {
    private let rig: MusicRig
    private var database: MusicDatabase { rig.database }

    init() throws { rig = try MusicRig(ScratchDirectory()) }

    @Test func `playlists are stored as files that are written completely or not at all`() async throws {
        try rig.makeFolder("a")
        rig.start()
        try await rig.wait(for: "the first scan") { rig.log.lines.count == 1 }
        try await database.savePlaylist("trip 10", ["a/one.flac", "two.flac"])
        try await database.savePlaylist("Trip 2", [])
        #expect(try await database.playlists().map(\.name) == ["Trip 2", "trip 10"])
        #expect(try await database.playlist("trip 10") == ["a/one.flac", "two.flac"])
        await #expect(throws: MPDDatabaseError.playlistExists("trip 10")) {
            try await database.savePlaylist("trip 10", [])
        }
        #expect(try await database.playlist("trip 10").count == 2)
        try await database.replacePlaylist("trip 10", ["three.flac"])
        #expect(try await database.playlist("trip 10") == ["three.flac"])
        for name in ["", "a/b", ".hidden", "line\nbreak", String(repeating: "x", count: 252), ".."] {
            await #expect(throws: MPDDatabaseError.invalidName(name)) { try await database.savePlaylist(name, []) }
            await #expect(throws: MPDDatabaseError.invalidName(name)) { try await database.playlist(name) }
            await #expect(throws: MPDDatabaseError.invalidName(name)) { try await database.removePlaylist(name) }
        }
        await #expect(throws: MPDDatabaseError.self) {
            try await database.savePlaylist(
                "large",
                Array(repeating: String(repeating: "x", count: 1 << 10), count: 1 << 14)
            )
        }
        #expect(try await database.playlists().map(\.name) == ["Trip 2", "trip 10"])
        let longest = String(repeating: "x", count: 251)
        try await database.savePlaylist(longest, ["two.flac"])
        try await database.removePlaylist(longest)
        try await database.removePlaylist("Trip 2")
        await #expect(throws: MPDDatabaseError.noSuchPlaylist("Trip 2")) { try await database.removePlaylist("Trip 2") }
        await #expect(throws: MPDDatabaseError.noSuchPlaylist("Trip 2")) { try await database.playlist("Trip 2") }
        let before = rig.events.count { $0 == .playlists }
        let text = "\u{FEFF}#EXTM3U\r\n\(rig.path("a/one.flac"))\r\n\nhttp://example.org/radio\ntwo.flac"
        try Data(text.utf8).write(to: URL(fileURLWithPath: rig.path("other.m3u")))
        try await rig.wait(for: "the event") { rig.events.count { $0 == .playlists } > before }
        #expect(try await database.playlist("other") == ["a/one.flac", "http://example.org/radio", "two.flac"])
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<10 {
                group.addTask { (try? await database.savePlaylist("race", ["\(index).flac"])) != nil }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(outcomes == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: rig.path("")).allSatisfy { !$0.hasPrefix(".") })
        try FileManager.default.removeItem(atPath: rig.path(""))
        await #expect(throws: MPDDatabaseError.self) { try await database.savePlaylist("gone", []) }
    }

    @Test func `renaming a playlist requires a free name and moves the file without copying it`() async throws {
        try rig.makeFolder("")
        try await database.savePlaylist("old", ["one.flac"])
        try await database.savePlaylist("taken", ["two.flac"])
        await #expect(throws: MPDDatabaseError.playlistExists("taken")) {
            try await database.renamePlaylist("old", to: "taken")
        }
        await #expect(throws: MPDDatabaseError.noSuchPlaylist("gone")) {
            try await database.renamePlaylist("gone", to: "new")
        }
        await #expect(throws: MPDDatabaseError.invalidName("a/b")) {
            try await database.renamePlaylist("old", to: "a/b")
        }
        #expect(try await database.playlist("taken") == ["two.flac"])
        let file = try #require(try fileNumber("old"))
        try await database.renamePlaylist("old", to: "new")
        #expect(try await database.playlists().map(\.name) == ["new", "taken"])
        #expect(try await database.playlist("new") == ["one.flac"])
        // The same file: a copy would be visible under both names for a moment.
        #expect(try fileNumber("new") == file)
    }

    private func fileNumber(_ playlist: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: rig.path(playlist + ".m3u"))[.systemFileNumber] as? Int
    }
}
