import BackgrounderAPI
import Foundation
import Playlists
import SystemSupport
import TestSupport
import Testing

@Suite(.computing) struct PlaylistFileTests {
    private func read(_ text: String, _ name: String = "list.m3u") throws -> PlaylistFile {
        try PlaylistFile(Array(text.utf8), path: "/music/\(name)")
    }

    @Test(arguments: ["\n", "\r\n", "\r"])
    func `an M3U is one path a line, relative to its folder, without comments`(newline: String) throws {
        let lines = [
            "\u{FEFF}#EXTM3U", "#EXTINF:3,A", "a.mp3", "", "  sub dir/b #1.wav", "./x/../日本.mp3", "/c.mp3 ", "#",
        ]
        let playlist = try read(lines.joined(separator: newline))
        #expect(
            playlist.entries.map(\.path) == ["/music/a.mp3", "/music/sub dir/b #1.wav", "/music/日本.mp3", "/c.mp3 "]
        )
        #expect(playlist.entries.map(\.line) == [3, 5, 6, 7])
        #expect(playlist.faults.isEmpty)
    }

    @Test(arguments: ["\n", "\r\n", "\r"])
    func `the locations in an M3U are its lines as they are written, without comments`(newline: String) {
        let lines = ["\u{FEFF}#EXTM3U", "a/b.mp3", "", " c.mp3", "http://radio.example/stream", "#", "../ü.mp3 "]
        #expect(
            PlaylistFile.locations(inM3U: Array(lines.joined(separator: newline).utf8))
                == ["a/b.mp3", " c.mp3", "http://radio.example/stream", "../ü.mp3 "]
        )
        #expect(PlaylistFile.locations(inM3U: Array("ü.mp3\nGr".utf8) + [0xFC]) == ["ü.mp3", "Grü"])
    }

    @Test func `a file URL is read as a path, and any other URL is reported with its line`() throws {
        let playlist = try read(
            """
            file:///m/a%20b%C3%A9.mp3
            file://localhost/c.mp3
            FILE:/d.mp3
            rtsp://radio.example/stream
            HTTPS://radio.example/stream?a=%20#b
            file://server/e.mp3
            file:///bad%2
            file:///not%FFutf8
            a: b.mp3
            file://
            """
        )
        #expect(
            playlist.entries.map(\.path) == [
                "/m/a bé.mp3", "/c.mp3", "/d.mp3", "HTTPS://radio.example/stream?a=%20#b", "/music/a: b.mp3",
            ]
        )
        #expect(playlist.faults.map(\.line) == [4, 6, 7, 8, 10])
        #expect(playlist.faults[0].reason == "cannot play rtsp addresses, only files, https and http")
        #expect(playlist.faults[1].reason == "the file is on another machine, server")
    }

    @Test func `invalid UTF-8 is read as Latin-1 in an M3U and reported in an M3U8`() throws {
        let bytes = Array("a.mp3\nGr".utf8) + [0xFC, 0xDF] + Array("e.mp3\nb.mp3".utf8)
        let old = try PlaylistFile(bytes, path: "/music/list.M3U")
        #expect(old.entries.map(\.path) == ["/music/a.mp3", "/music/Grüße.mp3", "/music/b.mp3"])
        let new = try PlaylistFile(bytes, path: "/music/list.m3u8")
        #expect(new.entries.map(\.path) == ["/music/a.mp3", "/music/b.mp3"])
        #expect(new.faults == [PlaylistFile.Fault(line: 2, reason: "not valid UTF-8")])
    }

    @Test(arguments: ["list.pls", "list.m3u", "list"])
    func `a PLS is detected by its content and ordered by its numbers`(name: String) throws {
        let playlist = try read(
            """
            [playlist]
            File2=b.mp3
            Title2=B=b
            Length2=-1
            file1 = file:///a%20a.mp3

            ; a comment
            NumberOfEntries=2
            Version=2
            """,
            name
        )
        #expect(playlist.entries.map(\.path) == ["/a a.mp3", "/music/b.mp3"])
        #expect(playlist.entries.map(\.line) == [5, 2])
        #expect(playlist.faults.isEmpty)
    }

    @Test func `gaps, duplicates and invalid entries are reported with their lines`() throws {
        let playlist = try read(
            """
            [playlist]
            File1=a.mp3
            File1=b.mp3
            File4=d.mp3
            File0=x.mp3
            Filex=x.mp3
            nonsense
            Colour=red
            File6=
            File5=ftp://radio.example
            NumberOfEntries=8
            """
        )
        #expect(playlist.entries.map(\.path) == ["/music/a.mp3", "/music/d.mp3"])
        #expect(
            playlist.faults.map { "\($0.line) \($0.reason)" } == [
                "3 duplicate File1, first in line 2", "4 File2 to File3 are missing",
                "5 \"File0\" has no valid number", "6 \"Filex\" has no valid number",
                "7 not KEY=VALUE", "8 unknown key \"colour\"", "9 File6 is empty",
                "10 cannot play ftp addresses, only files, https and http", "11 File6 to File8 are missing",
            ]
        )
    }

    @Test func `an entry number out of range is reported with its line`() throws {
        let playlist = try read("[playlist]\nFile1=a.mp3\nFile9223372036854775807=b.mp3\nFile2147483648=c.mp3")
        #expect(playlist.entries.map(\.path) == ["/music/a.mp3"])
        #expect(playlist.faults.map(\.line) == [3, 4])
    }

    @Test func `a playlist that is too large, too long or not text is rejected`() throws {
        let most = String(repeating: "a\n", count: PlaylistFile.mostEntries)
        #expect(try read(most).entries.count == PlaylistFile.mostEntries)
        #expect(throws: PlaylistError.tooMany) { try read(most + "a") }
        let pls = (1...PlaylistFile.mostEntries + 1).map { "File\($0)=a\n" }.joined()
        #expect(throws: PlaylistError.tooMany) { try read("[playlist]\n" + pls) }
        #expect(throws: PlaylistError.notText) { try read("a.mp3\n\0") }
        let comment = "#" + String(repeating: "x", count: PlaylistFile.sizeLimit - 1)
        #expect(try read(comment).entries.isEmpty)
        #expect(throws: PlaylistError.tooLarge) { try read(comment + "x") }
        #expect(try read("").entries.isEmpty)
    }

    @Test func `random bytes are read without an error, and entries and faults have valid lines`() throws {
        var random = SeededGenerator(seed: 5)
        let pieces = [
            "[playlist]", "File", "1", "=", "file:", "//", "%", "\n", "\r", "é", "\u{FEFF}", "#", "a", " ", "/", "..",
        ]
        for _ in 0..<300 {
            var bytes = (0..<30).flatMap { _ in Array((pieces.randomElement(using: &random) ?? "").utf8) }
            bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 1...255, using: &random)
            for name in ["/l.m3u", "/l.m3u8", "/l.pls"] {
                let playlist = try PlaylistFile(bytes, path: name)
                let lines = bytes.count { $0 == 10 || $0 == 13 } + 1
                #expect(playlist.entries.count <= lines)
                #expect(playlist.entries.allSatisfy { (1...lines).contains($0.line) && $0.path.hasPrefix("/") })
                #expect(playlist.faults.allSatisfy { (1...lines).contains($0.line) })
            }
        }
    }
}

@Suite struct ItemJSONTests {
    @Test func `items are written exactly as the JSON encoder writes them`() throws {
        let items = [
            PlayerItem(id: 1, position: 0, path: "/a/b.mp3"),
            PlayerItem(
                id: 100_000,
                position: 99_999,
                path: "/\"quoted\"\\\n\r\t\u{8}\u{C}\u{1}\u{1F}\u{7F}é日😀\u{2028}/x.wav",
                title: "T/\"",
                artist: "A",
                album: "",
                duration: 12.345,
                sampleRate: 44_100,
                channels: 2,
                codec: "MP3",
                error: "no \"such\" file"
            ),
            PlayerItem(id: 3, position: 2, path: "/c", duration: 180, sampleRate: 8000),
            PlayerItem(id: 4, position: 3, path: "/d", title: "x", duration: 0, channels: 1),
        ]
        for item in items {
            var text = TextBuffer()
            text.append(json: item)
            #expect(text.string == (try JSON.line(item)))
        }
    }
}
