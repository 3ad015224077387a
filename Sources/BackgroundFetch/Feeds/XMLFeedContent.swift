import BackgrounderAPI

/// Turns the elements of RSS, RDF and Atom into a feed.
final class XMLFeedContent {
    /// `nil` before the outermost element.
    private(set) var feed: Feed?
    private var names = XMLNames()
    private var ids: Set<String> = []
    /// What relative links are relative to, from the document's on: `xml:base`.
    private var bases: [(depth: Int, address: String?)]

    /// Where the element lies whose children are the feed's own: RSS's `channel`, Atom's `feed`.
    private var channelDepth: Int?
    private var entry: XMLFeedEntry?
    private var entryDepth = 0
    private var field: XMLFeedField?
    private var fieldDepth = 0
    private var text: [UInt8] = []

    init(base: String?) {
        bases = [(0, base)]
    }

    private var base: String? { bases.last?.address }

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
        // Where Atom's outermost element has no namespace, what is in it has none, too.
        if feed.format == .atom, vocabulary == .rss { vocabulary = .atom }
        if field != nil {
            // Elements inside of a text: its words must not grow together.
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

    func characters(_ bytes: UnsafeRawBufferPointer) {
        guard field != nil, text.count < FeedLimits.text else { return }
        text.append(contentsOf: bytes.prefix(FeedLimits.text - text.count))
    }

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
        // Those that say all in their attributes.
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
            // RSS has minutes. What is no number, or beyond all use, asks for nothing.
            if let minutes = Int(text.trimmingBlanks), (1...527_040).contains(minutes) {
                feed?.timeToLive = Double(minutes) * 60
            }
        default: break
        }
    }
}
