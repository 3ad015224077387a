import BackgrounderAPI

/// Builds a feed from the elements of RSS, RDF and Atom.
final class XMLFeedContent {
    /// The feed as read so far; `nil` before the root element.
    private(set) var feed: Feed?
    private var names = XMLNames()
    private var ids: Set<String> = []
    /// The base URLs for relative links: that of the document, then those of `xml:base` attributes in scope.
    private var bases: [(depth: Int, address: String?)]

    /// The depth of the element with the properties of the feed: `channel` in RSS, `feed` in Atom.
    private var channelDepth: Int?
    private var entry: XMLFeedEntry?
    private var entryDepth = 0
    private var field: XMLFeedField?
    private var fieldDepth = 0
    private var text: [UInt8] = []

    /// Creates an empty content; `base` is the URL of the document.
    init(base: String?) {
        bases = [(0, base)]
    }

    private var base: String? { bases.last?.address }

    /// Handles a start tag; the root element has depth 1.
    func start(_ name: String, _ attributes: [(name: String, value: String)], depth: Int)
        throws(FeedError)
    {
        try names.declare(attributes, depth: depth)
        if let address = attributes.first(where: { $0.name == "xml:base" })?.value {
            bases.append((depth, FeedAddress.resolve(address, base: base) ?? base))
        }
        var (vocabulary, local) = names.resolve(name)
        if depth == 1 { return try open(vocabulary, local) }
        guard let feed else { return }
        // If the root element of Atom has no namespace, neither do its children.
        if feed.format == .atom, vocabulary == .rss { vocabulary = .atom }
        if field != nil {
            // An element inside a text: keep the words before and after it apart.
            if local == "p" || local == "br" || local == "div" || local == "li" {
                text.append(UInt8(ascii: " "))
            }
        } else if entry != nil {
            guard depth == entryDepth + 1 else { return }
            begin(XMLFeedField(vocabulary, local, attributes, in: feed.format), attributes, depth)
        } else if isEntry(vocabulary, local, feed.format) {
            entryDepth = depth
            entry = XMLFeedEntry(
                about: attributes.first { names.resolve($0.name) == (.rdf, "about") }?.value
            )
        } else if channelDepth == nil, vocabulary == .rss, local == "channel" {
            channelDepth = depth
        } else if depth == channelDepth.map({ $0 + 1 }) {
            let field = XMLFeedField(vocabulary, local, attributes, in: feed.format)
            switch field {
            case .title, .timeToLive: begin(field, attributes, depth)
            default: break
            }
        }
    }

    /// Handles character data. A text is truncated after ``FeedLimits/text`` bytes.
    func characters(_ bytes: UnsafeRawBufferPointer) {
        guard field != nil, text.count < FeedLimits.text else { return }
        text.append(contentsOf: bytes.prefix(FeedLimits.text - text.count))
    }

    /// Handles the end tag of the element at `depth`.
    func end(depth: Int) throws(FeedError) {
        if let field, depth == fieldDepth {
            close(field, String(decoding: text, as: UTF8.self))
            self.field = nil
        } else if let entry, depth == entryDepth {
            if let entry = entry.finished(), ids.insert(entry.item.id).inserted {
                feed?.append(entry)
            }
            self.entry = nil
        }
        if bases.count > 1, bases.last?.depth == depth { bases.removeLast() }
        names.leave(depth: depth)
    }

    private func open(_ vocabulary: XMLNames.Vocabulary, _ local: String) throws(FeedError) {
        switch (vocabulary, local) {
        case (_, "rss"): feed = Feed(format: .rss)
        case (.rdf, "RDF"): feed = Feed(format: .rdf)
        case (.atom, "feed"),
            (.rss, "feed") where vocabulary == .atom || !names.hasDefault:
            feed = Feed(format: .atom)
            channelDepth = 1
        case _ where local.lowercased() == "html": throw FeedError(.html(feed: nil))
        default: throw FeedError(.otherXML(root: String(local.prefix(40))))
        }
    }

    private func isEntry(_ vocabulary: XMLNames.Vocabulary, _ local: String, _ format: FeedFormat)
        -> Bool
    {
        format == .atom
            ? vocabulary == .atom && local == "entry" : vocabulary == .rss && local == "item"
    }

    private func begin(
        _ field: XMLFeedField?,
        _ attributes: [(name: String, value: String)],
        _ depth: Int
    ) {
        guard let field else { return }
        // Enclosures and Atom links have only attributes, no text.
        switch field {
        case .enclosure: entry?.addEnclosure(attributes, address: "url", base: base)
        case .atomLink: entry?.addLink(attributes, base: base)
        default:
            self.field = field
            fieldDepth = depth
            text.removeAll(keepingCapacity: true)
        }
    }

    private func close(_ field: XMLFeedField, _ text: String) {
        guard entry == nil else {
            entry?.set(field, text, base: base)
            return
        }
        switch field {
        case .title(let markup):
            if feed?.title == nil { feed?.title = FeedText.line(text, markup) }
        case .timeToLive:
            // RSS states minutes. Ignore invalid numbers, and times of more than a year.
            if let minutes = Int(text.trimmingBlanks), (1...527_040).contains(minutes) {
                feed?.timeToLive = Double(minutes) * 60
            }
        default: break
        }
    }
}
