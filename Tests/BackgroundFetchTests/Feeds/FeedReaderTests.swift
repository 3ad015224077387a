import BackgroundFetch
import BackgrounderAPI
import Foundation
import SystemSupport
import Testing

@Suite struct FeedReaderTests {
    private func read(_ text: String, base: String? = nil) throws -> Feed {
        try FeedReader.read(Array(text.utf8), base: base)
    }

    @Test func `titles, links, ids, dates, enclosures and the TTL of RSS 2 are read`() throws {
        let feed = try read(FeedSamples.rss, base: "https://news.example/feeds/all.xml")
        #expect(feed.format == .rss)
        #expect(feed.title == "Harbour & Coast")
        #expect(feed.timeToLive == 3600)
        #expect(
            feed.items.map(\.title) == [
                "Storm warning for “Skagerrak” & Kattegat", "A <T> for everyone: 1 < 2", "Ferry to Frederikshavn late",
                nil, "Twice",
            ]
        )
        #expect(feed.items[0].id == "tag:news.example,2026:1")
        #expect(feed.items[0].link == "https://news.example/storm?a=1&b=2")
        #expect(feed.items[0].published == ISO8601.date("2026-11-21T06:55:49Z"))
        #expect(
            feed.entries[0].enclosures == [
                FeedEnclosure(url: "https://news.example/media/storm.mp3", type: "audio/mpeg", length: 123_456),
                FeedEnclosure(url: "https://cdn.example/storm.jpg", type: "image/jpeg"),
            ]
        )
        // A guid that is a permanent link is also the item's address.
        #expect(feed.items[1].link == "https://news.example/generics")
        #expect(feed.items[1].id == feed.items[1].link)
        #expect(feed.items[2].id == "https://news.example/ferry")
        #expect(feed.items[2].link == feed.items[2].id)
        #expect(feed.items[3].id.hasPrefix("sha256:"))
        #expect(feed.items[3].id.utf8.count == 39)
        #expect(feed.items[2].published == ISO8601.date("2026-11-20T10:00:00Z"))
    }

    @Test func `RDF items next to the channel take their id from rdf:about and their date from dc:date`() throws {
        let feed = try read(FeedSamples.rdf)
        #expect(feed.format == .rdf)
        #expect(feed.title == "Tide tables")
        #expect(
            feed.items == [
                FetchItem(
                    id: "https://tides.example/1",
                    title: "High water 12:40",
                    link: "https://tides.example/high",
                    published: ISO8601.date("2026-11-21T12:40:00Z")
                ),
                FetchItem(id: "https://tides.example/2", title: "Low water", link: "https://tides.example/2"),
            ]
        )
    }

    @Test func `Atom entries are read with xml:base, link relations and the three title types`() throws {
        let feed = try read(FeedSamples.atom, base: "https://ignored.example/")
        #expect(feed.format == .atom)
        #expect(feed.title == "Pictures & more")
        #expect(
            feed.items.map(\.title) == ["Plain <b>text</b> stays", "Bold and ©", "A word in XHTML", nil]
        )
        #expect(
            feed.items.map(\.link) == [
                "https://pictures.example/blog/2026/one", "https://pictures.example/two",
                "https://other.example/deep/three", nil,
            ]
        )
        #expect(
            feed.entries[0].enclosures == [
                FeedEnclosure(url: "https://pictures.example/blog/files/one.png", type: "image/png", length: 77)
            ]
        )
        #expect(feed.items[0].published == ISO8601.date("2026-11-20T08:00:00Z"), "published before updated")
        #expect(feed.items[1].published == ISO8601.date("2026-11-19T08:00:00.250Z"))
        #expect(feed.items[3].id == "urn:uuid:4")
        #expect(feed.items[3].published == nil)
    }

    @Test func `JSON Feed 1.0 and 1.1 are read with numeric ids, attachments and unknown members`() throws {
        let feed = try read(FeedSamples.json, base: "https://json.example/feed.json")
        #expect(feed.format == .json)
        #expect(feed.title == "Notes \u{1F600}")
        #expect(feed.items.map(\.id) == ["17", "https://json.example/two", "sha256:" + feed.items[2].id.dropFirst(7)])
        #expect(feed.items[0].title == "First & <b>only</b>")
        #expect(feed.items[0].link == "https://json.example/one")
        #expect(feed.items[0].published == ISO8601.date("2026-11-21T07:00:00+01:00"))
        #expect(
            feed.entries[0].enclosures == [
                FeedEnclosure(url: "https://json.example/a.m4a", type: "audio/mp4", length: 1_500_000),
                FeedEnclosure(url: "https://cdn.example/b.jpg"),
            ]
        )
        for version in ["http://jsonfeed.org/version/1", "https://jsonfeed.org/version/1.1/"] {
            #expect(try read(#"{"items": [], "version": "\#(version)"}"#).items.isEmpty)
        }
    }

    @Test func `a feed without entries is valid, and Atom is read without its namespace`() throws {
        #expect(try read("<rss version='2.0'><channel><title/></channel></rss>") == Feed(format: .rss))
        #expect(try read("<feed xmlns='http://www.w3.org/2005/Atom'/>").items.isEmpty)
        let entry = "<entry><id>a</id><title>t</title><link href='http://a.example/'/></entry>"
        #expect(
            try read("<feed>\(entry)</feed>").items == [FetchItem(id: "a", title: "t", link: "http://a.example/")],
            "Atom without its namespace"
        )
    }

    @Test func `blank lines, byte order marks, undeclared prefixes and odd namespaces are tolerated`() throws {
        let item =
            "<channel><item><media:title>no</media:title><title>yes</title><dc:date>2026-11-21</dc:date></item></channel>"
        for start in [
            "\n \r\n<?xml version='1.0'?><rss>", "\u{FEFF}<rss>", "<rss xmlns='http://backend.userland.com/rss2'>",
            "<rss xmlns='urn:whatever'>", "<!-- hello --><rss>",
        ] {
            let feed = try read(start + item + "</rss>")
            #expect(feed.items.map(\.title) == ["yes"], "\(start)")
            #expect(feed.items.first?.published != nil, "\(start)")
        }
    }

    @Test(
        arguments: ["iso-8859-1", "windows-1252", "CP1252", "iso-8859-15", "utf-16", "utf-16le"]
    )
    func `Latin-1, Windows-1252, ISO 8859-15 and UTF-16 are decoded`(name: String) throws {
        let euro = name == "iso-8859-15" ? "\u{A4}" : "\u{80}"
        let text =
            "<?xml version='1.0' encoding='\(name)'?><rss><channel><item><title>\(euro) na\u{EF}ve</title></item></channel></rss>"
        let bytes: [UInt8] =
            switch name {
            case "utf-16": [0xFE, 0xFF] + text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
            case "utf-16le": text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
            default: text.unicodeScalars.map { UInt8($0.value) }
            }
        #expect(try FeedReader.read(bytes).items.map(\.title) == ["€ naïve"])
    }

    @Test func `titles lose control characters and line breaks and are cut at 500 characters`() throws {
        let title = "a&#27;[31m\u{9B}2J\u{202E}b\n\t c\u{200B}&#8233;d"
        let text =
            "<rss><channel><item><title>\(title)</title></item><item><title>\(String(repeating: "é", count: 900))</title></item></channel></rss>"
        #expect(throws: FeedError(.damagedXML("reference to invalid character number"), line: 1)) { try read(text) }
        let titles = try read(text.replacingOccurrences(of: "&#27;", with: "&amp;#27;")).items.compactMap(\.title)
        #expect(titles[0] == "a[31m›2Jb c d")
        #expect(titles[1] == String(repeating: "é", count: 500) + "…")
    }

    @Test func `only web addresses become links`() throws {
        let links = [
            "javascript:alert(1)", "file:///etc/passwd", "https://", "//cdn.example/x", "../up",
            " https://a.example/ä b\n ",
            "HTTPS://A.example", "mailto:a@b",
        ]
        let items = links.map { "<item><title>\($0)</title><link>\($0)</link></item>" }.joined()
        let feed = try read("<rss><channel>\(items)</channel></rss>", base: "https://base.example/one/two")
        #expect(
            feed.items.map(\.link) == [
                nil, nil, nil, "https://cdn.example/x", "https://base.example/up", "https://a.example/%C3%A4%20b",
                "HTTPS://A.example", nil,
            ]
        )
    }

    @Test func `a long id is replaced by its digest, and equal ids make one item`() throws {
        let long = String(repeating: "x", count: 600)
        let items = [long, long, "\(long)y", "short"].map { "<item><guid>\($0)</guid></item>" }.joined()
        let ids = try read("<rss><channel>\(items)</channel></rss>").items.map(\.id)
        #expect(ids.count == 3)
        #expect(ids.last == "short")
        #expect(ids.allSatisfy { $0.utf8.count <= 512 })
    }
}
