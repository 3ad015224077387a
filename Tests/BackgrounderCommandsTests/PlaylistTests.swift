import BackgrounderAPI
import Foundation
import Playlists
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

    private func paths(_ playlist: Playlist) -> [String] { playlist.entries.map(\.path) }

    @Test func `paths are relative to the playlist's folder`() throws {
        let path = try scratch.write("a.mp3\nsub dir/b #1.wav\n./sub dir/../日本.mp3\nsub dir\n", to: "list.m3u")
        let playlist = try Playlist(path: path)
        #expect(paths(playlist) == ["a.mp3", "sub dir/b #1.wav", "日本.mp3", "sub dir"].map(scratch.file))
        #expect(playlist.faults.isEmpty)
    }

    @Test func `entries that cannot be added are reported with their lines, and the others are read`() throws {
        #expect(mkfifo(scratch.file("pipe"), 0o600) == 0)
        try scratch.write("a.mp3", to: "other.pls")
        let path = try scratch.write("a.mp3\n\nno.mp3\nftp://x/y\nother.pls\npipe\n日本.mp3\nhttps://x/y", to: "list.m3u")
        let playlist = try Playlist(path: path)
        #expect(paths(playlist) == ["a.mp3", "日本.mp3"].map(scratch.file) + ["https://x/y"])
        #expect(
            playlist.faults == [
                "\(path):3: \(scratch.file("no.mp3")): no such file or folder",
                "\(path):4: cannot play ftp addresses, only files, https and http",
                "\(path):5: \(scratch.file("other.pls")): playlists inside playlists are skipped",
                "\(path):6: \(scratch.file("pipe")) is not a file or folder",
            ]
        )
    }

    @Test func `files that the service refuses are reported, and the others are added in order`() async throws {
        let names = (0..<9).map { "\($0).mp3" }
        for name in names { try scratch.write("x", to: name) }
        var playlist = try Playlist(path: scratch.write(names.joined(separator: "\n"), to: "list.m3u"))
        let added = try await playlist.add { request in
            if request.items.contains(where: { $0.hasSuffix("/4.mp3") || $0.hasSuffix("/8.mp3") }) {
                throw CommandFailure("refused", exitCode: 4)
            }
            return request.items
        }
        #expect(added == names.filter { $0 != "4.mp3" && $0 != "8.mp3" }.map(scratch.file))
        #expect(
            playlist.faults == ["\(scratch.file("list.m3u")):5: refused", "\(scratch.file("list.m3u")):9: refused"]
        )
    }

    @Test func `a long playlist is added in requests below the service's size limit`() async throws {
        let line = "a.mp3\n" + String(repeating: "./", count: 100) + "a.mp3\n"
        var playlist = try Playlist(path: scratch.write(String(repeating: line, count: 10_000), to: "list.m3u"))
        var sizes: [Int] = []
        let added = try await playlist.add { request in
            sizes.append(try JSON.encode(request).count)
            return request.items
        }
        #expect(added.count == 20_000)
        #expect(Set(added) == [scratch.file("a.mp3")])
        #expect(sizes.allSatisfy { $0 < 1 << 20 })
    }

    @Test func `an empty playlist has no entries and no faults`() throws {
        let playlist = try Playlist(path: try scratch.write("", to: "list.m3u"))
        #expect(playlist.entries.isEmpty)
        #expect(playlist.faults.isEmpty)
    }

    @Test func `a missing playlist fails with exit code 4, a folder with 1`() throws {
        #expect(#expect(throws: CommandFailure.self) { try Playlist(path: scratch.file("none.m3u")) }?.exitCode == 4)
        #expect(#expect(throws: CommandFailure.self) { try Playlist(path: scratch.path) }?.exitCode == 1)
    }

    @Test func `paths in a symbolically linked playlist are relative to the link's folder`() throws {
        let folder = scratch.file("lists")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try scratch.write("a.mp3\n", to: "lists/list.m3u")
        let link = scratch.file("link.m3u")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "lists/list.m3u")
        #expect(paths(try Playlist(path: link)) == [scratch.file("a.mp3")])
        let broken = scratch.file("broken.m3u")
        try FileManager.default.createSymbolicLink(atPath: broken, withDestinationPath: "gone.m3u")
        #expect(#expect(throws: CommandFailure.self) { try Playlist(path: broken) }?.exitCode == 4)
    }

    @Test func `a pipe and an endless device are refused immediately`() throws {
        let pipe = scratch.file("pipe.m3u")
        #expect(mkfifo(pipe, 0o600) == 0)
        for path in [pipe, "/dev/zero"] {
            #expect(#expect(throws: CommandFailure.self) { try Playlist(path: path) }?.exitCode == 1)
        }
    }

    @Test func `a playlist larger than 16 MiB is refused`() throws {
        let path = try scratch.write("#" + String(repeating: "x", count: 16 << 20), to: "over.m3u")
        #expect(#expect(throws: CommandFailure.self) { try Playlist(path: path) }?.exitCode == 1)
    }

    @Test func `a name that ends in .pls writes a PLS file, which reads back unchanged`() throws {
        try scratch.write("x", to: "end .wav")
        let items = [
            PlayerItem(id: 1, position: 0, path: scratch.file("a.mp3"), title: "A=\u{1B}", duration: 12.5),
            PlayerItem(id: 2, position: 1, path: scratch.file("end .wav")),
        ]
        let path = scratch.file("out.PLS")
        try Playlist.write(items, to: path)
        #expect(
            try String(contentsOfFile: path, encoding: .utf8) == """
                [playlist]
                File1=\(items[0].path)
                Title1=A=\u{FFFD}
                Length1=12
                File2=\(items[1].path)
                Title2=end .wav
                Length2=-1
                NumberOfEntries=2
                Version=2

                """
        )
        let read = try Playlist(path: path)
        #expect(paths(read) == items.map(\.path))
        #expect(read.faults.isEmpty)
    }

    @Test func `a written playlist reads back unchanged and has titles and lengths for other players`() throws {
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
        #expect(paths(try Playlist(path: path)) == items.map(\.path))
    }

    @Test(arguments: ["/a\nb.mp3", "/a\r\nb.mp3", "/a\rb.mp3"])
    func `a path that a playlist cannot hold is refused, and the file is left unchanged`(itemPath: String) throws {
        let path = try scratch.write("before", to: "out.m3u")
        #expect(throws: CommandFailure.self) {
            try Playlist.write([PlayerItem(id: 1, position: 0, path: itemPath)], to: path)
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "before")
        #expect(throws: CommandFailure.self) { try Playlist.write([], to: scratch.file("no/out.m3u")) }
    }
}
