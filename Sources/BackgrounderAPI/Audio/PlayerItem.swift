/// An item of the queue.
///
/// Tags, `duration` in seconds, `sampleRate` in Hz, `channels` and `codec` are absent until the file was read. `error` marks an item
/// that could not be opened; it is skipped until playback is started again. `station` is the name of a live stream, while it plays.
/// `priority`, 1 to 255, is absent if it is 0; while `random` is on, items with a higher one are played first.
package struct PlayerItem: Codable, Hashable, Identifiable, Sendable {
    /// Never reused, even across restarts.
    package var id: Int
    /// 0-based.
    package var position: Int
    /// An absolute path, or an http or https URL.
    package var path: String
    package var title: String?
    package var artist: String?
    package var album: String?
    package var duration: Double?
    package var sampleRate: Int?
    package var channels: Int?
    package var codec: String?
    package var error: String?
    package var station: String?
    package var priority: Int?

    /// Creates a player item.
    package init(
        id: Int,
        position: Int,
        path: String,
        title: String? = nil,
        artist: String? = nil,
        album: String? = nil,
        duration: Double? = nil,
        sampleRate: Int? = nil,
        channels: Int? = nil,
        codec: String? = nil,
        error: String? = nil,
        station: String? = nil,
        priority: Int? = nil
    ) {
        self.id = id
        self.position = position
        self.path = path
        self.title = title
        self.artist = artist
        self.album = album
        self.duration = duration
        self.sampleRate = sampleRate
        self.channels = channels
        self.codec = codec
        self.error = error
        self.station = station
        self.priority = priority
    }
}

extension PlayerItem {
    /// The last component of the path.
    package var fileName: String {
        path.split(separator: "/").last.map(String.init) ?? path
    }
}
