import BackgrounderAPI
import FoundationEssentials
import Testing

@testable import MPDServer

@Suite struct FilterParserTests {
    private static func parse(_ arguments: [String], isCaseSensitive: Bool = true) throws -> SongFilter {
        var parser = MPDFilterParser(isCaseSensitive: isCaseSensitive)
        return try parser.parse(arguments)
    }

    private static let ann = SongFilter.tag(.artist, SongMatch(.equals, "Ann"))

    @Test(
        arguments: [
            ("(artist == 'Ann')", ann),
            ("( Artist=='Ann' )", ann),
            (#"(artist == "Ann")"#, ann),
            (#"(artist == 'A\nn')"#, ann),
            ("(((artist == 'Ann')))", ann),
            ("(artist != 'Ann')", .not(ann)),
            ("(!(artist == 'Ann'))", .not(ann)),
            ("(album contains 'live')", .tag(.album, SongMatch(.contains, "live"))),
            ("(album !contains 'live')", .not(.tag(.album, SongMatch(.contains, "live")))),
            ("(album starts_with 'A')", .tag(.album, SongMatch(.startsWith, "A"))),
            ("(any == '')", .anyTag(SongMatch(.equals, ""))),
            ("(file contains '.wav')", .file(SongMatch(.contains, ".wav"))),
            ("(base 'a/b')", .base("a/b")),
            ("(modified-since '1970-01-01T00:01:00Z')", .modifiedSince(Date(timeIntervalSince1970: 60))),
            ("(modified-since '60')", .modifiedSince(Date(timeIntervalSince1970: 60))),
            ("(conductor == 'x')", .not(.all)),
            (
                #"((artist == 'Ann') AND (!(album contains "y")) AND (base 'x'))"#,
                .and([ann, .not(.tag(.album, SongMatch(.contains, "y"))), .base("x")])
            ),
        ]
    )
    func `an expression is parsed into the filter that it describes`(text: String, filter: SongFilter) throws {
        #expect(try Self.parse([text]) == filter)
    }

    @Test func `pairs of a tag and a value must all match; search matches parts and ignores case`() throws {
        let both = try Self.parse(["artist", "Ann", "Album", "One"])
        #expect(both == .and([Self.ann, .tag(.album, SongMatch(.equals, "One"))]))
        let search = try Self.parse(["any", "an"], isCaseSensitive: false)
        #expect(search == .anyTag(SongMatch(.contains, "an", isCaseSensitive: false)))
        let mixed = try Self.parse(["(artist == 'Ann')", "base", "x"])
        #expect(mixed == .and([Self.ann, .base("x")]))
    }

    @Test(
        arguments: [
            ([], "Incorrect number of filter arguments"),
            (["artist"], "Incorrect number of filter arguments"),
            (["colour", "red"], "Unknown filter type"),
            (["base", "/x"], "Bad URI"),
            (["base", "../x"], "Bad URI"),
            (["(base '/x')"], "No such directory"),
            (["modified-since", "x"], "Failed to parse date"),
            (["(artist"], "'==' or '!=' expected"),
            (["(artist == Ann)"], "Quoted string expected"),
            (["(artist == 'x"], "Closing quote not found"),
            (["(artist == 'x') y"], "Unparsed garbage after expression"),
            (["(artist == 'x'"], "')' expected"),
            (["(colour == 'x')"], "Unknown filter type: colour"),
            (["()"], "Word expected"),
            (["(!artist)"], "'(' expected"),
            (["((artist == 'x')"], "Word expected"),
            (["((artist == 'x') OR (artist == 'y'))"], "'AND' expected"),
            (["((artist == 'x') AND)"], "Word expected"),
            (["(artist =~ 'A.*')"], "Regular expressions are not supported; use contains or starts_with"),
            (["(title == '" + String(repeating: "x", count: 4096) + "')"], "Quoted value is too long"),
            ([String(repeating: "(", count: 4000)], "Too many levels of parentheses"),
            ([String(repeating: "(!", count: 2000)], "Too many levels of parentheses"),
        ] as [([String], String)]
    )
    func `an invalid filter is refused with MPD's error message`(arguments: [String], problem: String) throws {
        let error = try #require(throws: MPDError.self) { try Self.parse(arguments) }
        #expect(error.code == .argument || error == .noSuchDirectory)
        #expect(error.text == problem)
    }

    @Test func `a filter matches the songs that it describes`() throws {
        let song = Song(
            path: "a/b.mp3",
            modified: Date(timeIntervalSince1970: 100),
            tags: [SongTag(.artist, "Ann"), SongTag(.artist, "Bob"), SongTag(.title, "Straße")]
        )
        for text in [
            "(artist == 'Bob')", "(genre == '')", "(title contains 'aß')", "(any starts_with 'Str')", "(base 'a')",
            "(file == 'a/b.mp3')", "(modified-since '100')", "(!(artist == 'Cy'))", "(base '')",
        ] { #expect(try Self.parse([text]).matches(song), "\(text)") }
        for text in [
            "(artist == 'bob')", "(artist == '')", "(base 'a/b')", "(modified-since '101')", "(artist != 'Ann')",
            "((artist == 'Ann') AND (genre == 'x'))",
        ] { #expect(try !Self.parse([text]).matches(song), "\(text)") }
        #expect(try Self.parse(["artist", "BO"], isCaseSensitive: false).matches(song))
    }
}
