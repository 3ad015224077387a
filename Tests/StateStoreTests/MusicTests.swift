import BackgrounderAPI
import Foundation
import GRDB
import SystemSupport
import TestSupport
import Testing

@testable import StateStore

/// The music database. The expected results were read from MPD 0.23.12 with the same songs.
@Suite struct MusicTests {
    private let fixture: StoreFixture
    private let store: StateStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
        try store.openMusic(directory: "/music")
        var changes = MusicChanges()
        changes.songs = [
            Song.sample(
                "top10.flac",
                "Artist=Zed",
                "Album=Alb1",
                "Title=Ten",
                "Genre=Rock",
                "Genre=Pop",
                "Date=2001-02-03"
            ),
            Song.sample("top2.flac", "Artist=Ann", "Album=Alb1", "Title=Two", "Track=2"),
            Song.sample(
                "b folder/x.flac",
                "Artist=Ann",
                "AlbumArtist=Various",
                "Album=Alb2",
                "Title=X",
                "Track=10",
                "Disc=2"
            ),
            Song.sample("b folder/a.flac", "Artist=ann", "Album=Alb2", "Title=A", "Track=9"),
            Song.sample("a10/notags.flac"),
            Song.sample("a2/deep/u.flac", "Artist=Ärger", "Album=alb2", "Comment=hey"),
            Song.sample("a2/v.flac", "Artist=Bob", "Artist=Ann", "Album=Alb3", "Date=1999"),
        ]
        changes.folders = ["a2": 5_000_000_000]
        _ = try store.apply(changes, at: Date())
    }

    @Test(arguments: [
        (SongFilter.all, "top10 top2 v u notags a x"),
        (.tag(.artist, SongMatch(.equals, "Ann")), "top2 v x"),
        (.tag(.artist, SongMatch(.equals, "ann", isCaseSensitive: false)), "top2 v a x"),
        (.tag(.artist, SongMatch(.equals, "")), "notags"),
        (.not(.tag(.artist, SongMatch(.equals, "Ann"))), "top10 u notags a"),
        (.tag(.title, SongMatch(.contains, "")), "top10 top2 v u notags a x"),
        (.tag(.artist, SongMatch(.contains, "ÄR", isCaseSensitive: false)), "u"),
        (.tag(.artist, SongMatch(.startsWith, "A")), "top2 v x"),
        (.tag(.album, SongMatch(.startsWith, "ALB", isCaseSensitive: false)), "top10 top2 v u a x"),
        (.tag(.albumArtist, SongMatch(.equals, "Ann")), "top2 v"),
        (.anyTag(SongMatch(.equals, "hey")), "u"),
        (.anyTag(SongMatch(.contains, "VAR", isCaseSensitive: false)), "x"),
        (.file(SongMatch(.equals, "top2.flac")), "top2"),
        (.file(SongMatch(.contains, "TOP2", isCaseSensitive: false)), "top2"),
        (.file(SongMatch(.contains, "TOP2")), ""),
        (.base("a2"), "v u"),
        (.base("a2/deep"), "u"),
        (.base("a"), ""),
        (.base(""), "top10 top2 v u notags a x"),
        (.and([.tag(.artist, SongMatch(.equals, "Ann")), .base("a2")]), "v"),
        (.modifiedSince(Date(timeIntervalSince1970: 100)), "top10 top2 v u notags a x"),
        (.modifiedSince(Date(timeIntervalSince1970: 1e300)), ""),
        (.tag(.artist, SongMatch(.contains, "%")), ""),
        (.tag(.artist, SongMatch(.contains, "_")), ""),
        (.tag(.artist, SongMatch(.equals, "' OR 1 --")), ""),
        (.base("' OR 1 --"), ""),
    ])
    func `a filter finds the same songs as in MPD`(_ filter: SongFilter, _ expected: String) async throws {
        #expect(try await names(store.songs(filter)) == expected)
    }

    @Test func `songs sort by a tag, missing values first, and then in folder order`() async throws {
        let ann = SongFilter.tag(.artist, SongMatch(.equals, "ann", isCaseSensitive: false))
        #expect(try await names(store.songs(ann, by: .tag(.track), descending: true)) == "x a top2 v")
        #expect(try await names(store.songs(ann, by: .tag(.artist))) == "top2 a x v")
        #expect(try await names(store.songs(.all, by: .tag(.title))) == "v u notags a top10 top2 x")
        #expect(try await names(store.songs(.all, window: 1..<3)) == "top2 v")
        #expect(try await names(store.songs(.all, window: 6..<600)) == "x")
        #expect(try await names(store.songs(.all, by: .modified, descending: true, window: 0..<1)) == "top10")
    }

    @Test func `tag values include an empty one for untagged songs and are grouped from the last tag`() async throws {
        #expect(
            try await store.tagValues(.artist, .all, groupedBy: []).map { $0[0] } == [
                "", "Ann", "Bob", "Zed", "ann", "Ärger",
            ]
        )
        #expect(
            try await store.tagValues(.albumArtist, .all, groupedBy: []).map { $0[0] }
                == ["", "Ann", "Bob", "Various", "Zed", "ann", "Ärger"]
        )
        #expect(try await store.tagValues(.genre, .all, groupedBy: []).map { $0[0] } == ["", "Pop", "Rock"])
        let dated = SongFilter.tag(.date, SongMatch(.equals, "1999"))
        #expect(try await store.tagValues(.artist, dated, groupedBy: []) == [["Ann"], ["Bob"]])
        #expect(
            try await store.tagValues(.album, .all, groupedBy: [.date, .artist]) == [
                ["", "", ""], ["Alb1", "", "Ann"], ["Alb2", "", "Ann"], ["Alb3", "1999", "Ann"],
                ["Alb3", "1999", "Bob"], ["Alb1", "2001-02-03", "Zed"], ["Alb2", "", "ann"], ["alb2", "", "Ärger"],
            ]
        )
    }

    @Test func `songs and playing time are counted for each tag value`() async throws {
        let ann = SongFilter.tag(.artist, SongMatch(.equals, "Ann"))
        #expect(try await store.songCounts(ann, groupedBy: nil) == [SongCount(value: "", songs: 3, playtime: 3)])
        #expect(
            try await store.songCounts(.all, groupedBy: .date) == [
                SongCount(value: "", songs: 5, playtime: 5), SongCount(value: "1999", songs: 1, playtime: 1),
                SongCount(value: "2001-02-03", songs: 1, playtime: 1),
            ]
        )
        let statistics = try await store.musicStatistics()
        #expect(statistics.artists == 5)
        #expect(statistics.albums == 4)
        #expect(statistics.songs == 7)
        #expect(statistics.playtime == 7)
        #expect(statistics.updated != nil)
    }

    @Test func `folders are listed as long as they contain songs`() async throws {
        let top = try #require(try await store.musicFolders(in: ""))
        #expect(top.map(\.path) == ["a2", "a10", "b folder"])
        #expect(top.first?.modified == Date(timeIntervalSince1970: 5))
        #expect(try await store.musicFolders(in: "", deep: true)?.map(\.path) == ["a2", "a2/deep", "a10", "b folder"])
        #expect(try await store.musicFolders(in: "nope") == nil)
        #expect(try await names(store.songs(in: "a2")) == "v")
        #expect(try store.musicFolder("a2").folders == ["deep"])
        var changes = MusicChanges()
        changes.removedFiles = ["a2/deep/u.flac"]
        changes.removedFolders = ["b folder"]
        changes.silent = [("a10/notags.flac", FileSignature(modified: 7, size: 8))]
        #expect(try store.apply(changes, at: Date()) == 2)
        #expect(try await store.musicFolders(in: "", deep: true)?.map(\.path) == ["a2"])
        #expect(try store.musicFolder("a10").files == ["notags.flac": FileSignature(modified: 7, size: 8)])
        #expect(try await names(store.songs(.all)) == "top10 top2 v")
        try store.openMusic(directory: "/elsewhere")
        #expect(try store.songCount() == 0)
        let left = try await store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM songTag") }
        #expect(left == 0)
        #expect(try store.musicFolder("").files.isEmpty)
    }

    @Test func `a changed song replaces its previous entry`() async throws {
        var changes = MusicChanges()
        changes.songs = [Song.sample("top2.flac", "Artist=New")]
        _ = try store.apply(changes, at: Date())
        #expect(try await store.song("top2.flac")?.tags == [SongTag(.artist, "New")])
        #expect(try await store.songs(.tag(.title, SongMatch(.equals, "Two"))).isEmpty)
        #expect(try store.songCount() == 7)
        #expect(
            try await store.songs(at: ["top2.flac", "nope", "a2/v.flac"]).keys.sorted() == ["a2/v.flac", "top2.flac"]
        )
    }

    @Test func `names sort in natural order`() {
        let names = ["", "01", "1a", "2 b", "9", "10 a", "10 b", "123456789", "1234567890", "A", "b", "Ä"]
        #expect(names.shuffled().sorted { NaturalKey.name($0[...]) < NaturalKey.name($1[...]) } == names)
        #expect(NaturalKey.fold("STRASSE ΟΔΟΣ") == NaturalKey.fold("straße οδος"))
        #expect(NaturalKey.folder("a/b") < NaturalKey.folder("a b"))
    }

    /// BACKGROUNDER_SONGS sets the number of songs and prints the times, which are meaningful in a release build.
    @Test func `queries of a large database use its indexes`() async throws {
        let wanted = ProcessInfo.processInfo.environment["BACKGROUNDER_SONGS"].flatMap { Int($0) }
        let count = wanted ?? 2_000
        func tell(_ words: String) { if wanted != nil { print(words) } }
        try store.openMusic(directory: "/many")
        let clock = ContinuousClock()
        let filling = try clock.measure {
            for start in stride(from: 0, to: count, by: 100) {
                var changes = MusicChanges()
                changes.songs = (start..<min(count, start + 100)).map { Song.numbered($0) }
                _ = try store.apply(changes, at: Date())
            }
        }
        tell("\(count) songs written in \(filling)")
        let one = SongFilter.tag(.artist, SongMatch(.equals, "Artist 7"))
        let folded = SongFilter.tag(.title, SongMatch(.equals, "TITLE 1234", isCaseSensitive: false))
        for (filter, index) in [
            (one, "songTagValue"), (folded, "songTagFolded"), (.base("artist 7"), "path"),
            (.anyTag(SongMatch(.equals, "Album 3")), "songTagValue"),
        ] {
            let query = SongQuery(filter, nil, descending: false, nil)
            let plan = try await store.database.read { database in
                try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN \(query.sql)", arguments: query.arguments)
                    .map { $0["detail"] as String }
            }
            #expect(!plan.contains { $0.hasPrefix("SCAN") }, "\(plan)")
            #expect(plan.contains { $0.contains(index) }, "\(plan)")
        }
        let questions: [(String, @Sendable () async throws -> Int)] = [
            ("find artist", { [store] in try await store.songs(one).count }),
            ("find title, folded", { [store] in try await store.songs(folded).count }),
            (
                "search any",
                { [store] in
                    try await store.songs(.anyTag(SongMatch(.contains, "tle 123", isCaseSensitive: false))).count
                }
            ),
            ("list artist", { [store] in try await store.tagValues(.artist, .all, groupedBy: []).count }),
            (
                "list album group albumartist",
                { [store] in try await store.tagValues(.album, .all, groupedBy: [.albumArtist]).count }
            ),
            ("count group artist", { [store] in try await store.songCounts(.all, groupedBy: .artist).count }),
            ("window by title", { [store] in try await store.songs(.all, by: .tag(.title), window: 0..<50).count }),
            ("window of a walk", { [store] in try await store.songs(.all, window: 500..<550).count }),
            ("lsinfo", { [store] in try await store.songs(in: "artist 7/album 0").count }),
            ("top", { [store] in try await store.musicFolders(in: "")?.count ?? 0 }),
            ("statistics", { [store] in try await store.musicStatistics().songs }),
            ("all songs", { [store] in try await store.songs(.all).count }),
        ]
        for (name, question) in questions {
            let begin = clock.now
            let answer = try await question()
            tell("\(name): \(answer) in \(clock.now - begin)")
            #expect(answer > 0, "\(name)")
        }
        var gone = 0
        let removal = try clock.measure {
            var changes = MusicChanges()
            changes.removedFolders = [""]
            gone = try store.apply(changes, at: Date())
        }
        #expect(gone == count)
        tell("removed in \(removal)")
    }

    /// Returns the file names without their extension.
    private func names(_ songs: [Song]) -> String {
        songs.map { $0.path.split(separator: "/").last?.dropLast(5) ?? "" }.joined(separator: " ")
    }
}

extension Song {
    /// Returns a song of one second with tags given as `Name=value`.
    fileprivate static func sample(_ path: String, _ tags: String...) -> (Song, FileSignature) {
        let time = 100 + (path == "top10.flac" ? 1 : 0)
        let song = Song(
            path: path,
            modified: Date(timeIntervalSince1970: Double(time)),
            duration: 1,
            sampleRate: 8_000,
            channels: 1,
            tags: SongText.tags(tags.joined(separator: "\n"))
        )
        return (song, FileSignature(modified: Int64(time) * 1_000_000_000, size: 1))
    }

    /// Returns one of many songs: 100 per artist, 10 per album.
    fileprivate static func numbered(_ index: Int) -> (Song, FileSignature) {
        let (artist, album) = (index / 100, index / 10 % 10)
        return Song.sample(
            "artist \(artist)/album \(album)/title \(index).mp3",
            "Artist=Artist \(artist)",
            "Album=Album \(album)",
            "Title=Title \(index)",
            "Track=\(index % 10 + 1)",
            "Genre=Genre \(index % 20)",
            "Date=\(1960 + index % 60)"
        )
    }
}
