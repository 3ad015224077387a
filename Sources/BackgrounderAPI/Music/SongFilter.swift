package import FoundationEssentials

/// A filter for songs of the music database: MPD's filter expressions as a value.
///
///     .and([.tag(.artist, .equals("Ann")), .base("albums")])
package indirect enum SongFilter: Hashable, Sendable {
    /// All songs.
    case all
    /// Songs with a matching tag of this name; a missing tag counts as "".
    case tag(SongTagName, SongMatch)
    /// Songs with any matching tag.
    case anyTag(SongMatch)
    /// Songs with a matching path, relative to the music directory.
    case file(SongMatch)
    /// Songs in this folder and below it, relative to the music directory.
    case base(String)
    case modifiedSince(Date)
    case and([SongFilter])
    case not(SongFilter)
}

/// A comparison with a text.
package struct SongMatch: Hashable, Sendable {
    /// The kind of comparison.
    package enum Kind: Hashable, Sendable { case equals, contains, startsWith }

    package var kind: Kind
    package var text: String
    /// False to ignore case, as MPD's `search` does.
    package var isCaseSensitive: Bool

    /// Creates a song match.
    package init(_ kind: Kind, _ text: String, isCaseSensitive: Bool = true) {
        self.kind = kind
        self.text = text
        self.isCaseSensitive = isCaseSensitive
    }
}
