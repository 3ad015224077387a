import BackgroundFetch
import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// Replies that are not feeds, and feeds built to do harm.
@Suite(.computing) struct HostileFeedTests {
    @Test(
        arguments: [
            ("", "not a feed: the reply is empty"), (" \n\t", "not a feed: the reply is empty"),
            ("<!DOCTYPE HTML><p>Log in", "not a feed but an HTML page; use the URL of the feed itself"),
            (
                "\n<html><head><link rel='alternate' type='application/rss+xml' href='/f?a=1&amp;b=2'>",
                "not a feed but an HTML page; it links to the feed https://a.example/f?a=1&b=2"
            ),
            (
                "<html><link rel=alternate type=application/rss+xml title='İİ' data-href='/x' href=/f>",
                "not a feed but an HTML page; it links to the feed https://a.example/f"
            ),
            (
                "<?xml version='1.0'?><!DOCTYPE html PUBLIC 'x' 'y'><html/>",
                "not a feed but an HTML page; use the URL of the feed itself"
            ),
            (
                "<?xml version='1.0'?>\n<html xmlns='http://www.w3.org/1999/xhtml'/>",
                "not a feed but an HTML page; use the URL of the feed itself"
            ),
            ("<opml version='2.0'/>", "not a feed: the XML begins with <opml>; RSS, RDF and Atom are supported"),
            ("<feed xmlns='urn:shop'/>", "not a feed: the XML begins with <feed>; RSS, RDF and Atom are supported"),
            ("<rss><channel></rss>", "line 1: damaged XML: mismatched tag"),
            ("<rss>\n<channel>\n<item>", "line 3: damaged XML: no element found; the end may be missing"),
            ("\n\n<rss>&nbsp;</rss>", "line 3: damaged XML: undefined entity"),
            ("<!DOCTYPE rss [<!ENTITY a 'b'>]><rss>&a;</rss>", "line 1: a DOCTYPE is not allowed"),
            ("<?xml version='1.0' encoding='Shift_JIS'?><rss/>", "the encoding Shift_JIS is not supported; use UTF-8"),
            ("{}", "not a feed: the JSON has no JSON Feed version"),
            ("[1, 2]", "not a feed: the JSON has no JSON Feed version"),
            (#"{"version": 2, "items": []}"#, "not a feed: the JSON has no JSON Feed version"),
            (#"{"version": "https://jsonfeed.org/version/1"}"#, "damaged JSON: the JSON Feed has no array of items"),
            ("{\n\"items\": [\n1,]}", "line 3: damaged JSON: unexpected \"]\""),
            ("{\"a\": \"b", "line 1: damaged JSON: unexpected end of data"),
            ("{\"a\": 01}", "line 1: damaged JSON: unexpected \"1\""),
            ("{} {}", "line 1: damaged JSON: unexpected data after the end"),
            ("{\"a\": \"\u{1}\"}", "line 1: damaged JSON: a control character in a string"),
            ("Not found", "not a feed but plain text"),
            ("\u{1F}\u{8B}\u{8}", "not a feed but binary data"), ("GIF89a", "not a feed but a GIF image"),
            ("\u{0}\u{1}", "not a feed but binary data"),
        ]
    )
    func `a reply that is not a feed is described in one line`(text: String, message: String) {
        do {
            let feed = try FeedReader.read(Array(text.utf8), base: "https://a.example/")
            Issue.record("\(feed)")
        } catch {
            #expect(error.description == message)
        }
    }

    @Test func `entity bombs, endless nesting and oversized feeds are refused within seconds`() {
        let levels = (1...9).map { "<!ENTITY l\($0) '\(String(repeating: "&l\($0 - 1);", count: 10))'>" }.joined()
        let laughs = "<?xml version='1.0'?><!DOCTYPE rss [<!ENTITY l0 'ha'>\(levels)]><rss>&l9;</rss>"
        let deep = { (open: String, start: String) in
            start + String(repeating: open, count: (15 << 20) / open.utf8.count)
        }
        let items = "<rss><channel>" + String(repeating: "<item><title>x</title><guid>", count: 1)
        let spaces = "<rss " + (0..<70).map { "xmlns:a\($0)='b' " }.joined() + "/>"
        for (text, kind) in [
            (laughs, FeedError.Kind.doctype), (deep("<a>", "<rss>"), .tooDeep(limit: 128)),
            (deep("[", "{\"a\":"), .tooDeep(limit: 128)),
            (spaces, .tooMany("namespaces", limit: 64)),
            (items + String(repeating: "x", count: 16 << 20), .tooLarge(limit: 16 << 20)),
        ] {
            let began = secondsComputed()
            let error = #expect(throws: FeedError.self) { try FeedReader.read(Array(text.utf8)) }
            #expect(error?.kind == kind)
            #expect(secondsComputed() - began < 5, "\(kind)")
        }
    }

    @Test func `a feed is cut after 5000 entries and keeps its title, and later damage is still an error`() throws {
        for count in [5000, 6000] {
            let numbers = 0..<count
            let items = numbers.map { "<item><title>t\($0)</title><guid>\($0)</guid></item>" }.joined()
            let resources = numbers.map { "<item rdf:about='\($0)'><title>t\($0)</title></item>" }.joined()
            let names = "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'"
            let objects = numbers.map { #"{"id":"\#($0)"}"# }.joined(separator: ",")
            for text in [
                "<rss><channel><title>own</title>\(items)</channel></rss>",
                "<rdf:RDF \(names)><channel><title>own</title></channel>\(resources)</rdf:RDF>",
                #"{"version":"https://jsonfeed.org/version/1.1","title":"own","items":[\#(objects)]}"#,
            ] {
                let feed = try FeedReader.read(Array(text.utf8))
                #expect(feed.entries.map(\.item.id) == (0..<5000).map { "\($0)" })
                #expect(feed.isCut == (count > 5000))
                #expect(feed.title == "own")
            }
        }
        // Damage after the first 5000 entries is still refused.
        let many = "<rss><channel>" + (0..<6000).map { "<item><guid>\($0)</guid></item>" }.joined()
        #expect(throws: FeedError.self) { try FeedReader.read(Array(many.utf8)) }
    }

    @Test func `input built to provoke quadratic parsing takes less than 5 seconds`() throws {
        let mebibytes = { (part: String, count: Int) in String(repeating: part, count: (count << 20) / part.utf8.count)
        }
        let title = { (text: String) in "<rss><channel><item><title><![CDATA[\(text)]]></title></item></channel></rss>"
        }
        let texts = [
            title(mebibytes("<a", 1)), title(mebibytes("<!--", 1)), title(mebibytes("&amp", 1)),
            title(mebibytes("<script>", 1)),
            "<rss><channel>" + mebibytes("<item><title><![CDATA[<b <b <b]]></title></item>", 1) + "</channel></rss>",
            "<rss><channel><item a='" + mebibytes("x", 1) + "'/></channel></rss>",
            "{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[" + mebibytes("0,", 1) + "0]}",
            "{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[{\"id\":\"" + mebibytes("\\u00e9", 1) + "\"}]}",
            "<html>" + mebibytes("<link<", 1), mebibytes("<!---->", 1) + "<rss/>",
        ]
        for text in texts {
            let bytes = Array(text.utf8)
            let began = secondsComputed()
            _ = try? FeedReader.read(bytes)
            #expect(secondsComputed() - began < 5, "\(text.prefix(40))")
        }
    }

    @Test func `a randomly damaged feed yields clean items or an error with a valid line number`() throws {
        var random = SeededGenerator(seed: 6)
        var refused = 0
        for round in 0..<400 {
            var bytes = Array(FeedSamples.all[round % FeedSamples.all.count].utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) { mutate(&bytes, &random) }
            do {
                let feed = try FeedReader.read(bytes, base: "https://a.example/")
                #expect(Set(feed.items.map(\.id)).count == feed.items.count)
                for entry in feed.entries {
                    let texts = [entry.item.id, entry.item.title, entry.item.link] + entry.enclosures.map(\.url)
                    #expect(texts.compactMap(\.self).allSatisfy { $0 == $0.withoutControlCharacters && !$0.isEmpty })
                    #expect(entry.item.link?.lowercased().hasPrefix("http") != false)
                }
            } catch {
                refused += 1
                let lines = bytes.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
                #expect((1...lines + 1).contains(error.line ?? 1), "\(error)")
                #expect(error.description == error.description.withoutControlCharacters)
            }
        }
        #expect((100...390).contains(refused))
    }

    private func mutate(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        guard let place = bytes.indices.randomElement(using: &random) else { return }
        let end = min(bytes.count, place + Int.random(in: 1...40, using: &random))
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes[place] = .random(in: 0...255, using: &random)
        case 1: bytes[place] = Array("<>\"'{}[]:,&;/!-x0\\".utf8).randomElement(using: &random) ?? 0
        case 2: bytes.removeSubrange(place..<end)
        case 3: bytes.insert(contentsOf: bytes[place..<end], at: place)
        case 4: bytes.insert(contentsOf: Array("<![CDATA[&#0;&x;]]>-1e999\"null".utf8), at: place)
        default: if Int.random(in: 0..<4, using: &random) == 0 { bytes.removeSubrange(place...) }
        }
    }
}
