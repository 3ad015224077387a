import BackgrounderAPI

extension SongTagName {
    /// Maps the name of a Vorbis comment, in upper case, to a tag, like MPD.
    init?(vorbisComment name: String) {
        switch name {
        case "ARTIST": self = .artist
        case "ALBUM": self = .album
        case "ALBUMARTIST", "ALBUM ARTIST": self = .albumArtist
        case "TITLE": self = .title
        case "TRACKNUMBER", "TRACK": self = .track
        case "NAME": self = .name
        case "GENRE": self = .genre
        case "DATE": self = .date
        case "COMPOSER": self = .composer
        case "PERFORMER": self = .performer
        case "COMMENT", "DESCRIPTION": self = .comment
        case "DISCNUMBER", "DISC": self = .disc
        default: return nil
        }
    }

    /// Maps an ID3v2 text frame to a tag (https://id3.org/id3v2.4.0-frames).
    init?(id3Frame id: String) {
        switch id {
        case "TPE1": self = .artist
        case "TALB": self = .album
        case "TPE2": self = .albumArtist
        case "TIT2": self = .title
        case "TRCK": self = .track
        case "TRSN": self = .name
        case "TCON": self = .genre
        case "TDRC", "TYER": self = .date
        case "TCOM": self = .composer
        case "TPE4", "TMCL": self = .performer
        case "TPOS": self = .disc
        default: return nil
        }
    }
}

/// The tags of a file in their order: single lines, without duplicates, in a bounded number.
struct SongTags {
    private(set) var all: [SongTag] = []
    /// Tuned: the most tags of a song.
    private static let most = 128

    mutating func add(_ name: SongTagName, _ text: String) {
        guard all.count < Self.most, let line = Metadata.line(text), let value = Self.value(name, line) else { return }
        let tag = SongTag(name, value)
        if !all.contains(tag) { all.append(tag) }
    }

    /// Normalizes a track or disc number like MPD: `03/12` becomes 3, and a text that is not a number is dropped.
    private static func value(_ name: SongTagName, _ line: String) -> String? {
        switch name {
        case .track, .disc: Int(line.prefix { $0.isASCII && $0.isNumber }).map { String($0) }
        default: line
        }
    }

    func contains(_ name: SongTagName) -> Bool { all.contains { $0.name == name } }
}

extension VorbisComments {
    var tags: [SongTag] {
        var tags = SongTags()
        for entry in entries {
            if let name = SongTagName(vorbisComment: entry.name) { tags.add(name, entry.value) }
        }
        return tags.all
    }
}
