package import BackgrounderAPI

/// What a feed says: its entries, in its own order, and what it asks of its readers.
package struct Feed: Hashable, Sendable {
    package var format: FeedFormat
    /// Plain text.
    package var title: String?
    /// Each id once; the first ones where there are too many.
    package var entries: [FeedEntry]
    /// Whether there are more entries than ``entries`` has.
    package var isCut: Bool
    /// Seconds for which it asks not to be read again.
    package var timeToLive: Double?

    package var items: [FetchItem] { entries.map(\.item) }

    /// Takes an entry, unless there are as many as are taken.
    mutating func append(_ entry: FeedEntry) {
        isCut = entries.count >= FeedLimits.entries
        if !isCut { entries.append(entry) }
    }

    package init(
        format: FeedFormat,
        title: String? = nil,
        entries: [FeedEntry] = [],
        isCut: Bool = false,
        timeToLive: Double? = nil
    ) {
        self.format = format
        self.title = title
        self.entries = entries
        self.isCut = isCut
        self.timeToLive = timeToLive
    }
}

package enum FeedFormat: String, Hashable, Sendable {
    /// RSS 0.91 to 2.0.
    case rss = "RSS"
    /// RSS 0.90, 1.0 and 1.1, which are RDF.
    case rdf = "RDF"
    case atom = "Atom"
    case json = "JSON Feed"
}

/// An entry of a feed with the files that belong to it.
package struct FeedEntry: Hashable, Sendable {
    package var item: FetchItem
    package var enclosures: [FeedEnclosure]

    package init(item: FetchItem, enclosures: [FeedEnclosure] = []) {
        self.item = item
        self.enclosures = enclosures
    }
}

/// A file that an entry names. Nothing about it is more than the feed's word.
package struct FeedEnclosure: Hashable, Sendable {
    /// Absolute, `http` or `https`.
    package var url: String
    package var type: String?
    /// Bytes; absent also where the feed says 0, as many do that do not know.
    package var length: Int64?

    package init(url: String, type: String? = nil, length: Int64? = nil) {
        self.url = url
        self.type = type
        self.length = length
    }
}
