import SystemSupport
import Testing

@testable import MPDServer

/// Commands on a single connection.
@Suite struct SessionTests {
    @Test(
        arguments: [
            ("foo", #"ACK [5@0] {} unknown command "foo""#),
            ("status x", #"ACK [2@0] {status} wrong number of arguments for "status""#),
            ("add", #"ACK [2@0] {add} too few arguments for "add""#),
            ("play 1 2", #"ACK [2@0] {play} too many arguments for "play""#),
            ("play x", "ACK [2@0] {play} Integer expected: x"),
            ("play 99", "ACK [2@0] {play} Bad song index"),
            ("playid 99", "ACK [50@0] {playid} No such song"),
            ("seekcur 1", "ACK [55@0] {seekcur} Not playing"),
            ("next", "ACK [55@0] {next} Not playing"),
            ("add nope", "ACK [50@0] {add} No such directory"),
            ("addid albums", "ACK [50@0] {addid} No such song"),
            ("add plain.wav 9", "ACK [2@0] {add} Number too large: 9"),
            ("addid plain.wav +0", "ACK [55@0] {addid} No current song"),
            ("move 0: 1", "ACK [2@0] {move} Open-ended range not supported"),
            ("move 5 0", "ACK [2@0] {move} Bad song index"),
            ("setvol 101", "ACK [2@0] {setvol} Number too large: 101"),
            ("repeat 2", "ACK [2@0] {repeat} Boolean (0/1) expected: 2"),
            ("single 2", "ACK [2@0] {single} Unrecognized single mode, expected 0, 1, or oneshot"),
            (
                "crossfade 5",
                "ACK [2@0] {crossfade} Crossfading is not supported; songs follow each other without a gap"
            ),
            ("mixrampdb -17", "ACK [2@0] {mixrampdb} MixRamp is not supported; songs follow each other without a gap"),
            ("replay_gain_mode loud", "ACK [2@0] {replay_gain_mode} Unrecognized replay gain mode"),
            ("disableoutput 1", "ACK [50@0] {disableoutput} No such audio output"),
            ("enableoutput 1", "ACK [50@0] {enableoutput} No such audio output"),
            ("toggleoutput 5", "ACK [50@0] {toggleoutput} No such audio output"),
            ("outputset 0 a b", "ACK [2@0] {outputset} Unsupported attribute"),
            ("partition x", "ACK [50@0] {partition} partition does not exist"),
            ("binarylimit 10", "ACK [2@0] {binarylimit} Value too small"),
            ("tagtypes foo", "ACK [2@0] {tagtypes} Unknown sub command"),
            ("tagtypes enable foo", "ACK [2@0] {tagtypes} Unknown tag type"),
            ("idle foo", "ACK [2@0] {idle} Unrecognized idle event: foo"),
            ("kill", #"ACK [4@0] {kill} you don't have permission for "kill""#),
            ("config", #"ACK [4@0] {config} you don't have permission for "config""#),
            ("password x", "ACK [3@0] {password} incorrect password"),
            ("sticker get song a b", "ACK [50@0] {sticker} No such song"),
            ("prio 256 0", "ACK [2@0] {prio} Number too large: 256"),
            ("prio 1 9", "ACK [2@0] {prio} Bad song index"),
            ("prioid 1 9", "ACK [50@0] {prioid} No such song"),
            ("prio 1", #"ACK [2@0] {prio} too few arguments for "prio""#),
            ("rangeid 1 0:1", "ACK [5@0] {rangeid} playing part of a song is not supported; use seek"),
            ("lsinfo nope", "ACK [50@0] {lsinfo} No such directory"),
            ("list colour", "ACK [2@0] {list} Unknown tag type: colour"),
            ("list title Ann", #"ACK [2@0] {list} should be "Album" for 3 arguments"#),
            ("find artist Ann sort colour", "ACK [2@0] {find} Unknown sort tag"),
            ("find base nope", "ACK [50@0] {find} No such directory"),
            ("load nope", "ACK [50@0] {load} No such playlist"),
            ("save mix", "ACK [56@0] {save} Playlist already exists"),
            ("save a/b", "ACK [2@0] {save} Bad playlist name"),
            ("playlistmove mix 0 9", "ACK [2@0] {playlistmove} Bad range"),
            ("update ../x", "ACK [2@0] {update} Malformed path"),
            ("readpicture nope 0", "ACK [50@0] {readpicture} No such song"),
            ("albumart plain.wav 0", "ACK [50@0] {albumart} No file exists"),
            ("albumart albums/one.mp3 201", "ACK [2@0] {albumart} Offset too large"),
            ("sendmessage nobody hello", "ACK [50@0] {sendmessage} nobody is subscribed to this channel"),
            (#"subscribe "a b""#, "ACK [2@0] {subscribe} invalid channel name"),
            ("unsubscribe a", "ACK [50@0] {unsubscribe} not subscribed to this channel"),
            // A user's typing error. On TCP it ends the connection.
            ("STATUS", #"ACK [5@0] {} unknown command "STATUS""#),
        ]
    )
    func `a refused command returns MPD's error, and the connection stays open`(line: String, answer: String)
        async throws
    {
        let client = try await MPDFixture().connect()
        #expect(try await client.ask(line) == [answer])
        #expect(try await client.ask("ping") == ["OK"])
    }

    @Test(
        arguments: [
            "add /etc/passwd", "add ../x", "add file:///etc/passwd", "addid albums/../../x", "albumart ../cover.jpg 0",
            "albumart /etc/passwd 0", "readpicture ../x.mp3 0", "lsinfo ..", "lsinfo /etc", "listallinfo ../..",
            "playlistadd mix ../x", "update ..", "find base ..", "add ftp://host/x.mp3", "load ../mix",
            "listplaylist /etc/passwd",
        ]
    )
    func `paths outside the music directory are refused`(line: String) async throws {
        let client = try await MPDFixture().connect()
        let answer = try await client.ask(line)
        #expect(answer.count == 1, "\(answer)")
        #expect(answer[0].hasPrefix("ACK "), "\(answer)")
        #expect(try await client.ask("status").contains("playlistlength: 0"))
    }

    @Test func `absolute paths in the music directory are accepted on the Unix socket, but not on TCP`() async throws {
        let fixture = try await MPDFixture(onTCP: true)
        let client = try await fixture.connect()
        for uri in ["file:///music/albums/one.mp3", "/music/plain.wav", "file:///music/albums"] {
            #expect(try await client.ask("add \(uri)") == ["OK"], "\(uri)")
        }
        #expect(try await client.ask("addid /music/plain.wav").count == 2)
        #expect(try await client.ask("status").contains("playlistlength: 6"))
        #expect(try await client.ask("add /music/nope") == ["ACK [50@0] {add} No such directory"])
        for uri in ["/music/../etc/passwd", "/musical/one.mp3", "file:/music/plain.wav"] {
            #expect(try await client.ask("add \(uri)") == ["ACK [4@0] {add} Access denied"], "\(uri)")
        }
        let far = try await fixture.connectTCP()
        #expect(try await far.ask("add /music/plain.wav") == ["ACK [4@0] {add} Access denied"])
        #expect(try await far.ask("add plain.wav") == ["OK"])
    }

    @Test func `the output is disabled, toggled and enabled, and the status says why nothing sounds`() async throws {
        let client = try await MPDFixture().connect()
        func isEnabled() async throws -> Bool { try await client.ask("outputs").contains("outputenabled: 1") }
        #expect(try await isEnabled())
        #expect(try await client.ask("disableoutput 0") == ["OK"])
        #expect(try await !isEnabled())
        #expect(try await client.ask("add plain.wav") == ["OK"])
        _ = try await client.ask("play")
        _ = try await client.ask("pause 1")
        #expect(try await client.ask("status").contains("error: All audio outputs are disabled"))
        #expect(try await client.ask("toggleoutput 0") == ["OK"])
        #expect(try await isEnabled())
        #expect(try await !client.ask("status").contains { $0.hasPrefix("error") })
        #expect(try await client.ask("toggleoutput 0") == ["OK"])
        #expect(try await client.ask("enableoutput 0") == ["OK"])
        #expect(try await isEnabled())
    }

    @Test func `prio and prioid set the priorities of ranges and of ids`() async throws {
        let client = try await MPDFixture().connect()
        for _ in 0..<4 { #expect(try await client.ask("add plain.wav") == ["OK"]) }
        func priorities() async throws -> [String] {
            try await client.ask("playlistinfo").filter { $0.hasPrefix("Pos") || $0.hasPrefix("Prio") }
        }
        #expect(try await client.ask("prio 5 0:2 3") == ["OK"])
        #expect(try await priorities() == ["Pos: 0", "Prio: 5", "Pos: 1", "Prio: 5", "Pos: 2", "Pos: 3", "Prio: 5"])
        #expect(try await client.ask("prioid 0 1 2") == ["OK"])
        #expect(try await client.ask("prioid 255 3") == ["OK"])
        #expect(try await priorities() == ["Pos: 0", "Pos: 1", "Pos: 2", "Prio: 255", "Pos: 3", "Prio: 5"])
        #expect(try await client.ask("prio 0 0:") == ["OK"])
        #expect(try await priorities().count == 4)
    }

    @Test func `addresses of the network are added as they are, from TCP too`() async throws {
        let fixture = try await MPDFixture(onTCP: true)
        let client = try await fixture.connectTCP()
        #expect(try await client.ask("urlhandlers") == ["handler: http://", "handler: https://", "OK"])
        #expect(try await client.ask("add https://radio.example/live?a=1") == ["OK"])
        #expect(try await client.ask("addid http://radio.example/live").last == "OK")
        #expect(
            try await client.ask("playlist").prefix(2) == [
                "0:file: https://radio.example/live?a=1", "1:file: http://radio.example/live",
            ]
        )
        #expect(try await client.ask("add ftp://radio.example/live") == ["ACK [2@0] {add} Unsupported URI scheme"])
        #expect(try await client.ask("playlistadd mix https://radio.example/live") == ["OK"])
        #expect(try await client.ask("listplaylist mix").contains("file: https://radio.example/live"))
        #expect(try await client.ask("clear") == ["OK"])
        #expect(try await client.ask("load mix") == ["OK"])
        #expect(try await client.ask("playlistinfo").contains("file: https://radio.example/live"))
    }

    @Test func `a command list runs up to the first refused command`() async throws {
        let client = try await MPDFixture().connect()
        #expect(try await client.ask("command_list_begin\nping\nrepeat 1\ncommand_list_end") == ["OK"])
        try await client.send("command_list_ok_begin\ngetvol\nplay 99\nrepeat 0\ncommand_list_end\n")
        #expect(try await client.answer() == ["volume: 100", "list_OK", "ACK [2@1] {play} Bad song index"])
        #expect(try await client.ask("status").contains("repeat: 1"))
        #expect(
            try await client.ask("command_list_ok_begin\nping\nping\ncommand_list_end") == ["list_OK", "list_OK", "OK"]
        )
        #expect(try await client.ask("command_list_end") == [#"ACK [5@0] {} unknown command "command_list_end""#])
    }

    @Test func `the queue is filled, listed and changed by positions and ids`() async throws {
        let client = try await MPDFixture().connect()
        #expect(try await client.ask("add albums") == ["OK"])
        #expect(try await client.ask("addid plain.wav 0") == ["Id: 4", "OK"])
        #expect(
            try await client.ask("playlistinfo 1:2") == [
                "file: albums/one.mp3", "Last-Modified: 1970-01-01T00:00:00Z", "Format: 44100:16:2", "Title: First",
                "Artist: Ann", "Album: A", "Time: 12", "duration: 12.042", "Pos: 1", "Id: 1", "OK",
            ]
        )
        #expect(try await client.ask("play 1", "status").suffix(3) == ["nextsong: 2", "nextsongid: 2", "OK"])
        #expect(try await client.ask("addid plain.wav +0") == ["Id: 5", "OK"])
        #expect(
            try await client.ask("move 0 -0", "playlist").dropLast() == [
                "0:file: plain.wav", "1:file: albums/one.mp3", "2:file: plain.wav", "3:file: albums/two.mp3",
                "4:file: albums/three.mp3",
            ]
        )
        #expect(
            try await client.ask("swapid 4 3", "move 0:2 1", "delete 3:", "playlist").dropLast() == [
                "0:file: plain.wav", "1:file: albums/three.mp3", "2:file: albums/one.mp3",
            ]
        )
        #expect(try await client.ask("playlistfind artist Bob").contains("Id: 3"))
        #expect(try await client.ask("playlistsearch title fir").contains("Id: 1"))
        let status = try await client.ask("status")
        let version = try #require(status.first { $0.hasPrefix("playlist: ") }?.dropFirst(10).description)
        #expect(try await client.ask("plchangesposid \(version)") == ["OK"])
        #expect(try await client.ask("addid plain.wav", "plchangesposid \(version)") == ["cpos: 3", "Id: 6", "OK"])
        #expect(try await client.ask("plchangesposid 99999999999").count == 9)
        #expect(try await client.ask("load mix", "save copy", "clear", "load copy 0:1 0", "playlist").count == 2)
    }

    @Test func `a song outside the music directory is shown by its absolute path, with its tags`() async throws {
        let fixture = try await MPDFixture()
        _ = await fixture.player.add(["/srv/\nx.mp3"], at: nil)
        let client = try await fixture.connect()
        #expect(
            try await client.ask("playlistinfo") == ["file: /srv/\u{FFFD}x.mp3", "Title: T1", "Pos: 0", "Id: 1", "OK"]
        )
        #expect(
            try await client.ask("tagtypes clear", "playlistid 1") == [
                "file: /srv/\u{FFFD}x.mp3", "Pos: 0", "Id: 1", "OK",
            ]
        )
        #expect(
            try await client.ask("tagtypes enable title MUSICBRAINZ_ALBUMID", "tagtypes") == ["tagtype: Title", "OK"]
        )
    }

    @Test func `while the player waits for its output, the status is play with the reason as error`() async throws {
        let fixture = try await MPDFixture()
        let client = try await fixture.connect()
        try await client.ask("add plain.wav", "play")
        await fixture.player.wait("the sound server is gone")
        let status = try await client.ask("status")
        #expect(status.contains("state: play"))
        #expect(status.contains("elapsed: 1.500"))
        #expect(status.contains("bitrate: 192"))
        #expect(status.contains("error: the sound server is gone"))
        await fixture.player.fail("damaged")
        try await client.ask("pause 0", "stop")
        #expect(try await client.ask("status").contains("error: /x.mp3: damaged"))
        #expect(try await client.ask("clearerror", "status").allSatisfy { !$0.hasPrefix("error") })
    }

    @Test func `the database is browsed, searched and counted`() async throws {
        let client = try await MPDFixture().connect()
        #expect(
            try await client.ask("lsinfo").filter { !$0.hasPrefix("Last") } == [
                "file: plain.wav", "Format: 44100:16:2", "Time: 12", "duration: 12.042", "directory: albums",
                "playlist: mix", "OK",
            ]
        )
        #expect(try await client.ask("listall albums").count == 4)
        #expect(try await client.ask("search title IR", "find \"(artist == 'Bob')\"")[0] == "file: albums/three.mp3")
        #expect(
            try await client.ask("list album group artist") == [
                "Artist: ", "Album: ", "Artist: Ann", "Album: A", "Artist: Bob", "Album: B", "OK",
            ]
        )
        for line in ["list album group album", "list album group artist group artist"] {
            #expect(try await client.ask(line) == ["ACK [2@0] {list} Conflicting group"])
        }
        #expect(try await client.ask("list conductor") == ["Conductor: ", "OK"])
        #expect(try await client.ask("list album Ann") == ["Album: A", "OK"])
        #expect(try await client.ask("count artist Ann") == ["songs: 2", "playtime: 24", "OK"])
        #expect(try await client.ask("searchadd artist a window 0:1", "playlist") == ["0:file: albums/one.mp3", "OK"])
        #expect(try await client.ask("listplaylistinfo mix").suffix(2) == ["file: gone.mp3", "OK"])
        #expect(try await client.ask("stats").contains("songs: 4"))
    }

    @Test func `stickers are kept for songs, and clients hear of changes`() async throws {
        let fixture = try await MPDFixture()
        let client = try await fixture.connect()
        let listener = try await fixture.connect()
        async let change = listener.ask("idle sticker")
        #expect(
            try await client.ask("sticker set song albums/one.mp3 rating 5", "sticker set song plain.wav a=b 1") == [
                "OK"
            ]
        )
        #expect(try await change == ["changed: sticker", "OK"])
        #expect(try await client.ask("sticker get song albums/one.mp3 rating") == ["sticker: rating=5", "OK"])
        #expect(
            try await client.ask("sticker find song albums rating > 4") == [
                "file: albums/one.mp3", "sticker: rating=5", "OK",
            ]
        )
        #expect(try await client.ask("sticker find song \"\" rating < 4") == ["OK"])
        #expect(try await client.ask("sticker find song \"\" rating ? 4") == ["ACK [2@0] {sticker} bad operator"])
        #expect(try await client.ask("sticker set song gone.mp3 a b") == ["ACK [50@0] {sticker} No such song"])
        #expect(try await client.ask("sticker list song albums/one.mp3") == ["sticker: rating=5", "OK"])
        #expect(try await client.ask("sticker delete song albums/one.mp3") == ["OK"])
        #expect(try await client.ask("sticker delete song albums/one.mp3") == ["ACK [50@0] {sticker} no such sticker"])
    }

    @Test func `without a music directory the queue can be played, but nothing can be browsed`() async throws {
        let client = try await MPDFixture(database: nil).connect()
        let answer = "No database: audio.musicDirectory is not configured"
        #expect(try await client.ask("lsinfo") == ["ACK [50@0] {lsinfo} \(answer)"])
        #expect(try await client.ask("add x") == ["ACK [50@0] {add} \(answer)"])
        #expect(try await client.ask("play") == ["OK"])
    }

    @Test func `a picture is sent in parts of the client's binary limit`() async throws {
        let client = try await MPDFixture().connect()
        try await client.ask("binarylimit 64")
        var picture = ""
        for offset in [0, 64, 128, 192] {
            let answer = try await client.ask("albumart albums/one.mp3 \(offset)")
            #expect(answer.prefix(2) == ["size: 200", "binary: \(min(64, 200 - offset))"])
            picture += answer[2]
        }
        #expect(picture.utf8.count == 200)
        #expect(picture.hasPrefix("abc"))
        #expect(
            try await client.ask("readpicture albums/one.mp3 0") == [
                "size: 3", "type: image/png", "binary: 3", "PNG", "OK",
            ]
        )
        #expect(try await client.ask("readpicture plain.wav 0") == ["OK"])
    }

    @Test func `a picture is kept until the client that reads it leaves`() throws {
        let (database, otherDatabase) = (ListDatabase.sample, ListDatabase.sample)
        // Any two objects can stand for clients.
        let (reader, other) = (ObjectIdentifier(database), ObjectIdentifier(otherDatabase))
        let picture = try database.folderPicture(of: "albums/one.mp3")
        let pictures = MPDPictures()
        pictures.store(picture, "a", for: reader)
        pictures.forget(other)
        #expect(pictures.find("a") == picture)
        pictures.forget(reader)
        #expect(pictures.find("a") == nil)
    }
}
