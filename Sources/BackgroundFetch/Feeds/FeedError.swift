import BackgrounderAPI
import SystemSupport

/// The reason why content cannot be read as a feed.
///
/// Damaged content is rejected as a whole, because a part of a feed would look like a feed that dropped its other
/// entries. A well-formed feed with too many entries is not an error: it is read up to the limit.
package struct FeedError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error.
    package enum Kind: Hashable, Sendable {
        case empty
        case tooLarge(limit: Int)
        /// An HTML page, and the URL of the feed that it links to, if any.
        case html(feed: String?)
        /// Binary data, with a description such as "a GIF image" if the first bytes identify it.
        case binary(String?)
        /// Text that is neither XML nor JSON.
        case text
        /// XML with a root element other than that of a feed.
        case otherXML(root: String)
        /// JSON without the `version` of a JSON Feed.
        case otherJSON
        /// Invalid XML, with the message of expat.
        case damagedXML(String)
        /// Invalid JSON, or a JSON Feed without an array of `items`.
        case damagedJSON(String)
        /// A document type declaration. Feeds need none, and it can define entities that expand without bound.
        case doctype
        /// An unsupported character encoding.
        case encoding(String)
        case tooDeep(limit: Int)
        case tooMany(String, limit: Int)
    }

    package var kind: Kind
    /// The line, from 1; `nil` if the error concerns the whole content.
    package var line: Int?

    /// Creates an error; `line` counts from 1.
    package init(_ kind: Kind, line: Int? = nil) {
        self.kind = kind
        self.line = line
    }

    /// The line number, if known, and the reason, as one line without control characters.
    package var description: String {
        let text = line.map { "line \($0): \(reason)" } ?? reason
        return text.withoutControlCharacters
    }

    private var reason: String {
        switch kind {
        case .empty: "not a feed: the reply is empty"
        case .tooLarge(let limit): "the feed is larger than \(limit >> 20) MiB"
        case .html(nil): "not a feed but an HTML page; use the URL of the feed itself"
        case .html(let feed?): "not a feed but an HTML page; it links to the feed \(feed)"
        case .binary(nil): "not a feed but binary data"
        case .binary(let name?): "not a feed but \(name)"
        case .text: "not a feed but plain text"
        case .otherXML(let root):
            "not a feed: the XML begins with <\(root)>; RSS, RDF and Atom are supported"
        case .otherJSON: "not a feed: the JSON has no JSON Feed version"
        case .damagedXML(let message): "damaged XML: \(message)"
        case .damagedJSON(let message): "damaged JSON: \(message)"
        case .doctype: "a DOCTYPE is not allowed"
        case .encoding(let name): "the encoding \(name) is not supported; use UTF-8"
        case .tooDeep(let limit): "nested deeper than \(limit) levels"
        case .tooMany(let what, let limit): "more than \(limit) \(what)"
        }
    }
}
