package import BackgrounderAPI

extension SongFilter {
    /// Returns whether `song` matches. For songs in memory, such as those of the queue; a database filters faster.
    package func matches(_ song: Song) -> Bool {
        switch self {
        case .all: true
        case .tag(let name, let match): song.values(of: name).contains(where: match.matches)
        case .anyTag(let match): song.tags.contains { match.matches($0.value) }
        case .file(let match): match.matches(song.path)
        case .base(let folder): folder.isEmpty || song.path == folder || song.path.hasPrefix(folder + "/")
        case .modifiedSince(let date): song.modified >= date
        case .and(let filters): filters.allSatisfy { $0.matches(song) }
        case .not(let filter): !filter.matches(song)
        }
    }
}

extension Song {
    private func ownValues(of name: SongTagName) -> [String] {
        tags.filter { $0.name == name }.map(\.value)
    }

    /// Returns the values of a tag; "" if the song does not have it. As in MPD, the artist stands in for a missing
    /// album artist.
    fileprivate func values(of name: SongTagName) -> [String] {
        var values = ownValues(of: name)
        if values.isEmpty, name == .albumArtist { values = ownValues(of: .artist) }
        return values.isEmpty ? [""] : values
    }
}

extension SongMatch {
    /// Returns whether the value of a tag matches.
    func matches(_ value: String) -> Bool {
        let (value, text) = isCaseSensitive ? (value, text) : (value.lowercased(), text.lowercased())
        return switch kind {
        case .equals: value == text
        case .contains: text.isEmpty || value.contains(text)
        case .startsWith: value.hasPrefix(text)
        }
    }
}
