/// One entry of the queue.
///
/// What only the content tells (tags, `duration` in seconds, `sampleRate` in Hz, `channels`, `codec`) is absent until the
/// file was looked at. `error` marks what could not be opened: it is passed over until somebody plays again.
package struct PlayerItem: Codable, Hashable, Identifiable, Sendable {
    /// Given once and never again, also across restarts.
    package var id: Int
    /// From 0.
    package var position: Int
    /// Absolute.
    package var path: String
    package var title: String?
    package var artist: String?
    package var album: String?
    package var duration: Double?
    package var sampleRate: Int?
    package var channels: Int?
    package var codec: String?
    package var error: String?

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
        error: String? = nil
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
    }
}

extension PlayerItem {
    /// The last component of the path.
    package var fileName: String {
        path.split(separator: "/").last.map(String.init) ?? path
    }
}
