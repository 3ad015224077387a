/// Resolves the prefixes of XML names to vocabularies.
///
/// The namespace processing of expat is not used because it rejects undeclared prefixes, which occur in feeds.
struct XMLNames {
    /// A set of element names that a feed may use.
    enum Vocabulary: Hashable {
        /// RSS of any version, and names without a namespace.
        case rss
        case atom
        case dublinCore
        case content
        case rdf
        case other
    }

    private var bindings: [(depth: Int, prefix: Substring, vocabulary: Vocabulary)] = []

    /// Whether a default namespace is in scope.
    var hasDefault: Bool { bindings.contains { $0.prefix.isEmpty } }

    /// Adds the namespace declarations of an element at `depth`.
    ///
    /// - Throws: ``FeedError`` if more than ``FeedLimits/namespaces`` are in scope.
    mutating func declare(_ attributes: [(name: String, value: String)], depth: Int) throws(FeedError) {
        for (name, value) in attributes where name.hasPrefix("xmlns") {
            let prefix = name.dropFirst(5)
            guard prefix.isEmpty || prefix.first == ":" else { continue }
            guard bindings.count < FeedLimits.namespaces else {
                throw FeedError(.tooMany("namespaces", limit: FeedLimits.namespaces))
            }
            let vocabulary = Self.vocabulary(value)
            // An unknown default namespace of the root element counts as RSS: the name of the element decides.
            let isOwn = depth == 1 && prefix.isEmpty && vocabulary == .other
            bindings.append((depth, prefix.dropFirst(), isOwn ? .rss : vocabulary))
        }
    }

    /// Removes the namespace declarations of the element at `depth`.
    mutating func leave(depth: Int) {
        while bindings.last?.depth == depth { bindings.removeLast() }
    }

    /// Returns the vocabulary and the local part of a qualified name.
    func resolve(_ name: String) -> (vocabulary: Vocabulary, local: String) {
        let colon = name.utf8.firstIndex(of: UInt8(ascii: ":"))
        let prefix = colon.map { name[..<$0] } ?? ""
        let local = colon.map { String(name[name.utf8.index(after: $0)...]) } ?? name
        if let binding = bindings.last(where: { $0.prefix == prefix }) {
            return (binding.vocabulary, local)
        }
        // Undeclared: assume the usual meaning of the prefix.
        switch prefix {
        case "": return (.rss, local)
        case "atom": return (.atom, local)
        case "dc": return (.dublinCore, local)
        case "content": return (.content, local)
        case "rdf": return (.rdf, local)
        default: return (.other, local)
        }
    }

    private static func vocabulary(_ namespace: String) -> Vocabulary {
        switch namespace.trimmingBlanks {
        case "http://www.w3.org/2005/Atom", "https://www.w3.org/2005/Atom", "http://purl.org/atom/ns#":
            .atom
        case "http://purl.org/dc/elements/1.1/", "http://purl.org/dc/terms/": .dublinCore
        case "http://purl.org/rss/1.0/modules/content/": .content
        case "http://www.w3.org/1999/02/22-rdf-syntax-ns#": .rdf
        case "", "http://purl.org/rss/1.0/", "http://purl.org/net/rss1.1#",
            "http://my.netscape.com/rdf/simple/0.9/",
            "http://channel.netscape.com/rdf/simple/0.9/":
            .rss
        case let other
        where other.contains("backend.userland.com") || other.contains("blogs.law.harvard.edu"): .rss
        default: .other
        }
    }
}
