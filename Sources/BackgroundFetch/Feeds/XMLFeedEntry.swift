import BackgrounderAPI
import FoundationEssentials
import SystemSupport
import WebSupport

/// The property that a child element sets, of an entry or of the feed itself.
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

    /// The property for an element; `nil` if the element is ignored.
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

/// An entry of RSS, RDF or Atom while it is parsed. If an element other than the id is repeated, the first one counts.
struct XMLFeedEntry {
    private var id: String?
    /// Whether the id is also the link of the entry.
    private var isLink = false
    private var title: String?
    private var link: String?
    private var published: Date?
    private var updated: Date?
    private var body: String?
    private var enclosures: [FeedEnclosure] = []

    /// - Parameter about: the value of `rdf:about`, which is the id unless the entry has one of its own.
    init(about: String?) {
        id = about.flatMap { $0.trimmingBlanks.isEmpty ? nil : $0.trimmingBlanks }
    }

    /// Sets the property `field` to the content of its element.
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

    /// Adds the enclosure with the URL in the attribute `address`.
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

    /// Adds `enclosure`, unless its URL is known or there are ``FeedLimits/enclosures`` already.
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

    /// Adds an Atom `link`. Without `rel` it is the link of the entry itself (RFC 4287, 4.2.7.2).
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

    /// Returns the complete entry, or `nil` if it is empty.
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
    /// Creates an entry with the id that the feed states, or else its link, or else a digest of its content. Returns
    /// `nil` if the entry is empty.
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
            // Without the date: some feeds write the current time for all entries.
            identity = Digest.id([title ?? "", body ?? ""] + enclosures.map(\.url))
        }
        self.init(
            item: FetchItem(id: identity, title: title, link: link, published: published),
            enclosures: enclosures
        )
    }
}
