import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import BackgrounderCommands

@Suite struct PlaylistTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
        try FileManager.default.createDirectory(atPath: scratch.file("sub dir"), withIntermediateDirectories: false)
        for name in ["a.mp3", "sub dir/b #1.wav", "日本.mp3"] { try scratch.write("x", to: name) }
    }

    @Test(arguments: ["\n", "\r\n", "\r"])
    func `Paths are relative to the playlist's folder, comments and empty lines are none`(newline: String) throws {
        let lines = [
            "\u{FEFF}#EXTM3U", "#EXTINF:3,A", "a.mp3", "", "sub dir/b #1.wav", "./sub dir/../日本.mp3",
            scratch.file("a.mp3"), "# end",
        ]
        let path = try scratch.write(lines.joined(separator: newline), to: "list.m3u")
        let playlist = try Playlist(path: path)
        #expect(playlist.paths == ["a.mp3", "sub dir/b #1.wav", "日本.mp3", "a.mp3"].map(scratch.file))
        #expect(playlist.missing.isEmpty)
    }

    @Test func `What is not there is told with its line, and the rest is taken`() throws {
        let path = try scratch.write("a.mp3\n\nno.mp3\n日本.mp3", to: "list.m3u")
        let playlist = try Playlist(path: path)
        #expect(playlist.paths == ["a.mp3", "日本.mp3"].map(scratch.file))
        #expect(playlist.missing == ["\(path):3: there is no \(scratch.file("no.mp3"))"])
    }

    @Test func `An empty playlist has nothing`() throws {
        let playlist = try Playlist(path: try scratch.write("", to: "list.m3u"))
        #expect(playlist.paths.isEmpty && playlist.missing.isEmpty)
    }

    @Test func `A playlist that is not there is 4, a folder is 1`() throws {
        #expect(#expect(throws: CommandFailure.self) { try Playlist(path: scratch.file("none.m3u")) }?.exitCode == 4)
        #expect(#expect(throws: CommandFailure.self) { try Playlist(path: scratch.path) }?.exitCode == 1)
    }

    @Test func `A linked playlist is read, with its paths from the link's folder`() throws {
        let folder = scratch.file("lists")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try scratch.write("a.mp3\n", to: "lists/list.m3u")
        let link = scratch.file("link.m3u")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "lists/list.m3u")
        #expect(try Playlist(path: link).paths == [scratch.file("a.mp3")])
        let broken = scratch.file("broken.m3u")
        try FileManager.default.createSymbolicLink(atPath: broken, withDestinationPath: "gone.m3u")
        #expect(#expect(throws: CommandFailure.self) { try Playlist(path: broken) }?.exitCode == 4)
    }

    @Test func `What never ends or never begins is refused at once`() throws {
        let pipe = scratch.file("pipe.m3u")
        #expect(mkfifo(pipe, 0o600) == 0)
        for path in [pipe, "/dev/zero"] {
            #expect(#expect(throws: CommandFailure.self) { try Playlist(path: path) }?.exitCode == 1)
        }
    }

    @Test func `A playlist may have 16 MiB and no byte more`() throws {
        let comment = "#" + String(repeating: "x", count: (16 << 20) - 1)
        #expect(try Playlist(path: scratch.write(comment, to: "full.m3u")).paths.isEmpty)
        let path = try scratch.write(comment + "x", to: "over.m3u")
        #expect(#expect(throws: CommandFailure.self) { try Playlist(path: path) }?.exitCode == 1)
    }

    @Test func `What is written is read again as it was, with names and lengths for other players`() throws {
        let items = [
            PlayerItem(id: 1, position: 0, path: scratch.file("a.mp3"), title: "A\u{1B}", artist: "B", duration: 12.5),
            PlayerItem(id: 2, position: 1, path: scratch.file("sub dir/b #1.wav")),
        ]
        let path = scratch.file("out.m3u")
        try Playlist.write(items, to: path)
        #expect(
            try String(contentsOfFile: path, encoding: .utf8) == """
                #EXTM3U
                #EXTINF:12,B: A\u{FFFD}
                \(items[0].path)
                #EXTINF:-1,b #1.wav
                \(items[1].path)

                """
        )
        #expect(try Playlist(path: path).paths == items.map(\.path))
    }

    @Test(arguments: ["/a\nb.mp3", "/a\r\nb.mp3", "/a\u{2028}b.mp3"])
    func `A path that a playlist cannot hold is refused, and nothing is written`(itemPath: String) throws {
        let path = try scratch.write("before", to: "out.m3u")
        #expect(throws: CommandFailure.self) {
            try Playlist.write([PlayerItem(id: 1, position: 0, path: itemPath)], to: path)
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "before")
        #expect(throws: CommandFailure.self) { try Playlist.write([], to: scratch.file("no/out.m3u")) }
    }
}
