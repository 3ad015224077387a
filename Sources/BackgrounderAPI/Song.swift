package import FoundationEssentials

/// A file of the music directory, as its content describes it: what the music database holds.
package struct Song: Codable, Hashable, Sendable {
    /// Relative to the music directory, with `/` between its parts and none in front.
    package var path: String
    /// When the file was last changed.
    package var modified: Date
    /// Seconds; absent where the content does not say.
    package var duration: Double?
    /// In Hz.
    package var sampleRate: Int?
    package var channels: Int?
    /// In the order of the file; a tag may come more than once.
    package var tags: [SongTag]

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

/// One thing that a file says about itself; a value is one line without control characters.
package struct SongTag: Codable, Hashable, Sendable {
    package var name: SongTagName
    package var value: String

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
