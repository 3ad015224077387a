import BackgrounderAPI

/// A tag that clients may name: one that is read from files, or another of MPD's tags, which no song has.
enum MPDTag: Hashable, Sendable {
    case known(SongTagName)
    /// Another tag, in MPD's spelling.
    case other(String)

    /// MPD's tags that are not read from files (`tag/Names.cxx`).
    private static let others = [
        "ArtistSort", "AlbumSort", "AlbumArtistSort", "TitleSort", "OriginalDate", "ComposerSort", "Conductor", "Work",
        "Movement", "MovementNumber", "Ensemble", "Location", "Grouping", "Label", "Mood", "MUSICBRAINZ_ARTISTID",
        "MUSICBRAINZ_ALBUMID", "MUSICBRAINZ_ALBUMARTISTID", "MUSICBRAINZ_TRACKID", "MUSICBRAINZ_RELEASETRACKID",
        "MUSICBRAINZ_WORKID",
    ]

    private static let byName: [String: MPDTag] = Dictionary(
        uniqueKeysWithValues: SongTagName.allCases.map { ($0.rawValue.lowercased(), .known($0)) }
            + others.map { ($0.lowercased(), .other($0)) }
    )

    /// Finds a tag by its name, ignoring case; `nil` if MPD has no such tag.
    init?(_ name: String) {
        guard let tag = Self.byName[name.lowercased()] else { return nil }
        self = tag
    }

    /// Returns a filter for the songs whose tag matches. A tag that no song has counts as "" in every song.
    func filter(_ match: SongMatch) -> SongFilter {
        switch self {
        case .known(let tag): .tag(tag, match)
        case .other: match.text.isEmpty ? .all : .not(.all)
        }
    }
}
