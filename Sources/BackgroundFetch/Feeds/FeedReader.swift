/// Reads RSS, RDF, Atom and JSON Feed. Only the content decides which format it is.
///
///     let feed = try FeedReader.read(bytes, base: "https://example.com/feed.xml")
///     let new = seen.insert(feed.items)
package enum FeedReader {
    /// Returns the feed in `bytes`. A pure function.
    ///
    /// It blocks the calling thread, so do not call it on an event loop: a feed of 450 KB takes 4 ms, the most hostile
    /// 16 MiB found so far takes 2 s.
    ///
    /// - Parameters:
    ///   - bytes: the body of the reply, decompressed.
    ///   - base: the URL of the reply, after redirects. Without it, relative links are dropped.
    /// - Throws: ``FeedError`` if the content is not a feed, is damaged or exceeds a limit.
    package static func read(_ bytes: [UInt8], base: String? = nil) throws(FeedError) -> Feed {
        guard bytes.count <= FeedLimits.bytes else {
            throw FeedError(.tooLarge(limit: FeedLimits.bytes))
        }
        var isWide = bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE])
        // UTF-16 without a byte order mark: the XML still begins with "<?".
        isWide =
            isWide || bytes.starts(with: [0x00, 0x3C, 0x00])
            || bytes.starts(with: [0x3C, 0x00, 0x3F, 0x00])
        if isWide { return try XMLFeed.read(bytes, skippedLines: 0, base: base) }
        if let name = FeedSniffer.binary(bytes) { throw FeedError(.binary(name)) }

        var content = bytes[...]
        if content.starts(with: [0xEF, 0xBB, 0xBF]) { content = content.dropFirst(3) }
        // Many programs write blank lines before the XML declaration, which XML does not allow.
        let start = content.firstIndex { !FeedSniffer.isBlank($0) } ?? content.endIndex
        let lines = content[..<start].count { $0 == UInt8(ascii: "\n") }
        content = content[start...]
        switch content.first {
        case nil:
            throw FeedError(.empty)
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            return try JSONFeed.read(Array(content), skippedLines: lines, base: base)
        case UInt8(ascii: "<"):
            if FeedSniffer.isHTML(content) {
                throw FeedError(.html(feed: FeedSniffer.namedFeed(content, base: base)))
            }
            return try XMLFeed.read(Array(content), skippedLines: lines, base: base)
        default:
            throw FeedError(FeedSniffer.isText(content) ? .text : .binary(nil))
        }
    }
}
