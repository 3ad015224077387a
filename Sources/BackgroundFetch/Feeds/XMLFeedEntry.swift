import BackgrounderAPI
import FoundationEssentials

/// What a child of an entry, or of the feed itself, says.
enum XMLFeedField: Hashable {
    case title(FeedText.Markup)
    case link
    case atomLink
    case id(isLink: Bool)
    case published
    case updated
    case body
    case enclosure
    case timeToLive

    /// `nil` for all that is not read.
    init?(
        _ vocabulary: XMLNames.Vocabulary,
        _ local: String,
        _ attributes: [(name: String, value: String)],
        in format: FeedFormat
    ) {
        func attribute(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
        switch (format, vocabulary, local) {
        case (.atom, .atom, "title"):
            self = .title(["html", "text/html"].contains(attribute("type")) ? .html : .plain)
        case (.atom, .atom, "link"): self = .atomLink
        case (.atom, .atom, "id"): self = .id(isLink: false)
        case (.atom, .atom, "published"), (.atom, .atom, "issued"): self = .published
        case (.atom, .atom, "updated"), (.atom, .atom, "modified"): self = .updated
        case (.atom, .atom, "summary"), (.atom, .atom, "content"): self = .body
        case (.atom, _, _): return nil
        case (_, .rss, "title"): self = .title(.unknown)
        case (_, .rss, "link"): self = .link
        case (_, .rss, "guid"): self = .id(isLink: attribute("isPermaLink")?.lowercased() != "false")
        case (_, .rss, "pubDate"): self = .published
        case (_, .dublinCore, "date"): self = .updated
        case (_, .rss, "description"), (_, .content, "encoded"): self = .body
        case (_, .rss, "enclosure"): self = .enclosure
        case (_, .rss, "ttl"): self = .timeToLive
        default: return nil
        }
    }
}

/// An entry of RSS, RDF or Atom as it is read. The first of each child counts.
struct XMLFeedEntry {
    private var id: String?
    /// Whether the id is the entry's address, too.
    private var isLink = false
    private var title: String?
    private var link: String?
    private var published: Date?
    private var updated: Date?
    private var body: String?
    private var enclosures: [FeedEnclosure] = []

    /// - Parameter about: `rdf:about`.
    init(about: String?) {
        id = about.flatMap { $0.trimmingBlanks.isEmpty ? nil : $0.trimmingBlanks }
    }

    mutating func set(_ field: XMLFeedField, _ text: String, base: String?) {
        switch field {
        case .title(let markup): title = title ?? FeedText.line(text, markup)
        case .link: link = link ?? FeedAddress.resolve(text, base: base)
        case .id(let isLink):
            let text = text.trimmingBlanks
            guard !text.isEmpty else { return }
            (id, self.isLink) = (text, isLink)
        case .published: published = published ?? FeedDate.parse(text)
        case .updated: updated = updated ?? FeedDate.parse(text)
        case .body: body = body ?? text
        case .atomLink, .enclosure, .timeToLive: break
        }
    }

    mutating func addEnclosure(
        _ attributes: [(name: String, value: String)],
        address: String,
        base: String?
    ) {
        func attribute(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
        guard let url = attribute(address).flatMap({ FeedAddress.resolve($0, base: base) }) else {
            return
        }
        add(
            FeedEnclosure(
                url: url,
                type: attribute("type"),
                length: attribute("length").flatMap { Int64($0) }
            )
        )
    }

    mutating func add(_ enclosure: FeedEnclosure) {
        guard enclosures.count < FeedLimits.enclosures,
            !enclosures.contains(where: { $0.url == enclosure.url })
        else {
            return
        }
        let length = enclosure.length.flatMap { $0 > 0 ? $0 : nil }
        let type = enclosure.type.flatMap { FeedText.line($0, .plain) }
        enclosures.append(FeedEnclosure(url: enclosure.url, type: type, length: length))
    }

    /// Atom's `link`: without a relation it is the entry's own address.
    mutating func addLink(_ attributes: [(name: String, value: String)], base: String?) {
        switch attributes.first(where: { $0.name == "rel" })?.value.trimmingBlanks.lowercased()
            ?? "alternate"
        {
        case "alternate", "http://www.iana.org/assignments/relation/alternate":
            guard let address = attributes.first(where: { $0.name == "href" })?.value else { return }
            link = link ?? FeedAddress.resolve(address, base: base)
        case "enclosure":
            addEnclosure(attributes, address: "href", base: base)
        default:
            break
        }
    }

    /// `nil` for an entry that says nothing at all.
    func finished() -> FeedEntry? {
        let link = link ?? (isLink ? id.flatMap { FeedAddress.resolve($0, base: nil) } : nil)
        return FeedEntry(
            id: id,
            title: title,
            link: link,
            published: published ?? updated,
            body: body,
            enclosures: enclosures
        )
    }
}

extension FeedEntry {
    /// The id is the feed's own, else the link, else a digest of what the entry says; `nil` where it says nothing.
    init?(
        id: String?,
        title: String?,
        link: String?,
        published: Date?,
        body: String?,
        enclosures: [FeedEnclosure]
    ) {
        let stated = (id ?? link).map { $0.withoutControlCharacters }
        let identity: String
        if let stated {
            identity = stated.utf8.count <= FeedLimits.id ? stated : Digest.id([stated])
        } else {
            guard title != nil || body != nil || !enclosures.isEmpty else { return nil }
            // Not the date: some feeds state the present time for all of their entries.
            identity = Digest.id([title ?? "", body ?? ""] + enclosures.map(\.url))
        }
        self.init(
            item: FetchItem(id: identity, title: title, link: link, published: published),
            enclosures: enclosures
        )
    }
}
