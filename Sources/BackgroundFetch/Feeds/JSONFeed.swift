import BackgrounderAPI
import FoundationEssentials

/// Reads JSON Feed 1.0 and 1.1 (https://www.jsonfeed.org/version/1.1/).
enum JSONFeed {
    /// Returns the feed in `bytes`. Line numbers in errors start after `skippedLines`.
    static func read(_ bytes: [UInt8], skippedLines: Int, base: String?) throws(FeedError) -> Feed {
        var json = JSONPull(bytes, skippedLines: skippedLines)
        guard json.next == UInt8(ascii: "{") else {
            try json.skip()
            try json.end()
            throw FeedError(.otherJSON)
        }
        var feed = Feed(format: .json)
        var version: String?
        var hasItems = false
        var ids: Set<String> = []
        try json.object { (json, name) throws(FeedError) in
            switch name {
            case "version": version = try json.text(limit: FeedLimits.address)
            case "title": feed.title = try json.text().flatMap { FeedText.line($0, .plain) }
            case "items":
                guard json.next == UInt8(ascii: "[") else { return try json.skip() }
                hasItems = true
                try json.array { (json) throws(FeedError) in
                    guard let entry = try entry(&json, base: base), ids.insert(entry.item.id).inserted else {
                        return
                    }
                    feed.append(entry)
                }
            default: try json.skip()
            }
        }
        try json.end()
        // The version is a URL: some feeds write it with http instead of https, or with a final slash.
        guard version?.firstRange(of: "jsonfeed.org/version/1") != nil else {
            throw FeedError(.otherJSON)
        }
        guard hasItems else { throw FeedError(.damagedJSON("the JSON Feed has no array of items")) }
        return feed
    }

    private static func entry(_ json: inout JSONPull, base: String?) throws(FeedError) -> FeedEntry? {
        guard json.next == UInt8(ascii: "{") else {
            try json.skip()
            return nil
        }
        var texts: [String: String] = [:]
        var enclosures: [FeedEnclosure] = []
        try json.object { (json, name) throws(FeedError) in
            switch name {
            case "id", "url", "external_url", "title", "date_published", "date_modified", "content_text",
                "content_html":
                texts[name] = try json.text()
            case "attachments":
                guard json.next == UInt8(ascii: "[") else { return try json.skip() }
                try json.array { (json) throws(FeedError) in
                    guard let enclosure = try attachment(&json, base: base) else { return }
                    let isNew = !enclosures.contains { $0.url == enclosure.url }
                    if isNew, enclosures.count < FeedLimits.enclosures { enclosures.append(enclosure) }
                }
            default: try json.skip()
            }
        }
        let id = texts["id"]?.trimmingBlanks
        return FeedEntry(
            id: id?.isEmpty == true ? nil : id,
            title: texts["title"].flatMap { FeedText.line($0, .plain) },
            link: (texts["url"] ?? texts["external_url"]).flatMap { FeedAddress.resolve($0, base: base) },
            published: (texts["date_published"] ?? texts["date_modified"]).flatMap(FeedDate.parse),
            body: texts["content_text"] ?? texts["content_html"],
            enclosures: enclosures
        )
    }

    private static func attachment(_ json: inout JSONPull, base: String?) throws(FeedError)
        -> FeedEnclosure?
    {
        guard json.next == UInt8(ascii: "{") else {
            try json.skip()
            return nil
        }
        var texts: [String: String] = [:]
        try json.object { (json, name) throws(FeedError) in
            switch name {
            case "url", "mime_type", "size_in_bytes":
                texts[name] = try json.text(limit: FeedLimits.address)
            default: try json.skip()
            }
        }
        guard let url = texts["url"].flatMap({ FeedAddress.resolve($0, base: base) }) else {
            return nil
        }
        // JSON allows the number to be written as 1.5e6.
        let length = texts["size_in_bytes"].flatMap(Double.init).flatMap {
            Int64(exactly: $0.rounded())
        }
        return FeedEnclosure(
            url: url,
            type: texts["mime_type"].flatMap { FeedText.line($0, .plain) },
            length: length.flatMap { $0 > 0 ? $0 : nil }
        )
    }
}
