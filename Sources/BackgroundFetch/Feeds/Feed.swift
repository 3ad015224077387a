package import BackgrounderAPI

/// The content of a feed.
package struct Feed: Hashable, Sendable {
    package var format: FeedFormat
    /// The title as one line of plain text.
    package var title: String?
    /// The entries in the order of the feed, each id once; at most the first 5000.
    package var entries: [FeedEntry]
    /// Whether the feed has more entries than ``entries``.
    package var isCut: Bool
    /// Seconds for which the feed asks not to be fetched again.
    package var timeToLive: Double?

    /// The items of ``entries``, without their enclosures.
    package var items: [FetchItem] { entries.map(\.item) }

    /// Appends `entry`, or sets ``isCut`` if the limit of entries is reached.
    mutating func append(_ entry: FeedEntry) {
        isCut = entries.count >= FeedLimits.entries
        if !isCut { entries.append(entry) }
    }

    /// Creates a feed; a reader appends its entries.
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

/// The format of a feed.
package enum FeedFormat: String, Hashable, Sendable {
    /// RSS 0.91 to 2.0.
    case rss = "RSS"
    /// RSS 0.90, 1.0 and 1.1, which are based on RDF.
    case rdf = "RDF"
    case atom = "Atom"
    case json = "JSON Feed"
}

/// An entry of a feed and its enclosures.
package struct FeedEntry: Hashable, Sendable {
    package var item: FetchItem
    package var enclosures: [FeedEnclosure]

    /// Creates an entry from `item` and the files that it links to.
    package init(item: FetchItem, enclosures: [FeedEnclosure] = []) {
        self.item = item
        self.enclosures = enclosures
    }
}

/// A file that an entry links to, as the feed describes it; nothing is verified.
package struct FeedEnclosure: Hashable, Sendable {
    /// An absolute `http` or `https` URL.
    package var url: String
    /// The media type.
    package var type: String?
    /// Bytes; `nil` if the feed states none, or 0, which many feeds write for an unknown length.
    package var length: Int64?

    /// Creates an enclosure; `url` must be absolute already.
    package init(url: String, type: String? = nil, length: Int64? = nil) {
        self.url = url
        self.type = type
        self.length = length
    }
}
