package import FoundationEssentials

/// Which songs of the music database are meant: MPD's filter expressions as a value.
///
///     .and([.tag(.artist, .equals("Ann")), .base("albums")])
package indirect enum SongFilter: Hashable, Sendable {
    /// All songs.
    case all
    /// A song in which one of the tags of this name passes; without such a tag the value is "".
    case tag(SongTagName, SongMatch)
    /// A song in which any tag passes.
    case anyTag(SongMatch)
    /// The path, relative to the music directory.
    case file(SongMatch)
    /// Songs in this folder and below it, relative to the music directory.
    case base(String)
    case modifiedSince(Date)
    case and([SongFilter])
    case not(SongFilter)
}

/// How a text is compared.
package struct SongMatch: Hashable, Sendable {
    package enum Kind: Hashable, Sendable { case equals, contains, startsWith }

    package var kind: Kind
    package var text: String
    /// False where case makes no difference, as MPD's `search` has it.
    package var isCaseSensitive: Bool

    package init(_ kind: Kind, _ text: String, isCaseSensitive: Bool = true) {
        self.kind = kind
        self.text = text
        self.isCaseSensitive = isCaseSensitive
    }
}
