package import FoundationEssentials

/// A file of the music directory, as the music database describes it.
package struct Song: Codable, Hashable, Sendable {
    /// Relative to the music directory, without a leading slash.
    package var path: String
    /// The modification time of the file.
    package var modified: Date
    /// Seconds; absent if unknown.
    package var duration: Double?
    /// In Hz.
    package var sampleRate: Int?
    package var channels: Int?
    /// In the order of the file; a tag may occur more than once.
    package var tags: [SongTag]

    /// Creates a song.
    package init(
        path: String,
        modified: Date,
        duration: Double? = nil,
        sampleRate: Int? = nil,
        channels: Int? = nil,
        tags: [SongTag] = []
    ) {
        self.path = path
        self.modified = modified
        self.duration = duration
        self.sampleRate = sampleRate
        self.channels = channels
        self.tags = tags
    }
}

/// A tag of a file. The value is one line without control characters.
package struct SongTag: Codable, Hashable, Sendable {
    package var name: SongTagName
    package var value: String

    /// Creates a song tag.
    package init(_ name: SongTagName, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// The tags that are read, in MPD's spelling.
package enum SongTagName: String, Codable, CaseIterable, Sendable {
    case artist = "Artist"
    case album = "Album"
    case albumArtist = "AlbumArtist"
    case title = "Title"
    case track = "Track"
    case name = "Name"
    case genre = "Genre"
    case date = "Date"
    case composer = "Composer"
    case performer = "Performer"
    case comment = "Comment"
    case disc = "Disc"
}
