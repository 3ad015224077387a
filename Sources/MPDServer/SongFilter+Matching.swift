package import BackgrounderAPI

extension SongFilter {
    /// Whether `song` passes: for songs that are at hand, as those of the queue. A database does it faster.
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

    /// "" where there is none. Who made an album is who made the song, where nothing else is said, as with MPD.
    fileprivate func values(of name: SongTagName) -> [String] {
        var values = ownValues(of: name)
        if values.isEmpty, name == .albumArtist { values = ownValues(of: .artist) }
        return values.isEmpty ? [""] : values
    }
}

extension SongMatch {
    package func matches(_ value: String) -> Bool {
        let (value, text) = isCaseSensitive ? (value, text) : (value.lowercased(), text.lowercased())
        return switch kind {
        case .equals: value == text
        case .contains: text.isEmpty || value.contains(text)
        case .startsWith: value.hasPrefix(text)
        }
    }
}
