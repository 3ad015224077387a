/// The limits of a feed. Tuned: far above what well-meant feeds contain, and low enough that a hostile one does no
/// harm.
enum FeedLimits {
    /// Bytes of a feed after decompression, as for every reply.
    static let bytes = 16 << 20
    /// Nesting levels of elements, objects and arrays. Tuned: Atom entries may contain whole web pages.
    static let depth = 128
    /// Entries of a feed. The others are skipped, and the note of the run says so.
    static let entries = 5000
    /// Enclosures of one entry.
    static let enclosures = 32
    /// XML namespace declarations in scope at one place.
    static let namespaces = 64
    /// Bytes of one text; the rest is ignored.
    static let text = 65_536
    /// Bytes of a link.
    static let address = 8192
    /// Bytes of an entry's id; a digest replaces a longer one.
    static let id = 512
    /// Unicode scalars of a title; the rest is truncated.
    static let title = 500
    /// Ids that are remembered in addition to those in the current feed.
    static let remembered = 5000
}
