import BackgrounderAPI

/// Why bytes are no feed. They are refused as a whole, since half a feed looks like one that lost its entries; but what is
/// whole and has too many entries is taken up to the limit.
package struct FeedError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        case empty
        case tooLarge(limit: Int)
        /// A page of the web, with the feed that it names.
        case html(feed: String?)
        /// Another kind of file, by its name where its first bytes tell it.
        case binary(String?)
        /// Text that is neither XML nor JSON.
        case text
        /// XML whose outermost element is no feed's.
        case otherXML(root: String)
        /// JSON without the version that makes it a feed.
        case otherJSON
        /// What XML forbids, in expat's words.
        case damagedXML(String)
        /// What JSON forbids, or what a JSON Feed has another type for.
        case damagedJSON(String)
        /// A document type declaration: none is needed, and it can define entities.
        case doctype
        case encoding(String)
        case tooDeep(limit: Int)
        case tooMany(String, limit: Int)
    }

    package var kind: Kind
    /// From 1 on; absent where it is about the whole.
    package var line: Int?

    package init(_ kind: Kind, line: Int? = nil) {
        self.kind = kind
        self.line = line
    }

    /// One line, without control characters.
    package var description: String {
        let text = line.map { "line \($0): \(reason)" } ?? reason
        return text.withoutControlCharacters
    }

    private var reason: String {
        switch kind {
        case .empty: "no feed: the reply is empty"
        case .tooLarge(let limit): "the feed is larger than \(limit >> 20) MiB"
        case .html(nil): "an HTML page and no feed; give the address of the feed itself"
        case .html(let feed?): "an HTML page and no feed; the feed that it names is \(feed)"
        case .binary(nil): "binary data and no feed"
        case .binary(let name?): "\(name) and no feed"
        case .text: "plain text and no feed"
        case .otherXML(let root):
            "XML that begins with <\(root)> is no feed; RSS, RDF and Atom are read"
        case .otherJSON: "JSON without a JSON Feed's version is no feed"
        case .damagedXML(let message): "damaged XML: \(message)"
        case .damagedJSON(let message): "damaged JSON: \(message)"
        case .doctype: "a DOCTYPE is refused"
        case .encoding(let name): "the encoding \(name) is not read; UTF-8 is"
        case .tooDeep(let limit): "nested deeper than \(limit)"
        case .tooMany(let what, let limit): "more than \(limit) \(what)"
        }
    }
}
