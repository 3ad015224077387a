/// What is read of a feed at most. All are judgement: far beyond what honest feeds have, and far below what would hurt.
enum FeedLimits {
    static let bytes = 16 << 20  // judgement: modes.md, 3.1, what a reply may have when it is unpacked
    static let depth = 128  // judgement: Atom carries whole pages
    static let entries = 5000  // judgement; the rest is left out, which a run says
    static let enclosures = 32  // judgement: of one entry
    static let namespaces = 64  // judgement: in force at one place
    /// Bytes of one text that are looked at.
    static let text = 65_536  // judgement
    static let address = 8192  // judgement: bytes of a link
    static let id = 512  // judgement: bytes; the digest stands for a longer one
    /// Unicode scalars of a title; the rest is cut.
    static let title = 500  // judgement
    /// Ids that are remembered beside those of the feed as it is.
    static let remembered = 5000  // judgement
}
