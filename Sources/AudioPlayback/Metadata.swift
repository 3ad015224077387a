import BackgrounderAPI

/// The metadata in a file's content.
struct Metadata: Hashable, Sendable {
    var title: String?
    var artist: String?
    var album: String?
    var frames: Int?
    var format: AudioFormat?
    var codec: String?

    /// Replaces the metadata of `item`.
    func fill(_ item: inout PlayerItem) {
        item.title = title
        item.artist = artist
        item.album = album
        item.sampleRate = format?.rate
        item.channels = format?.channels
        item.codec = codec
        item.duration = if let frames, let format { Double(frames) / Double(format.rate) } else { nil }
    }

    /// Returns a tag as one line of bounded length without control characters, which could affect a terminal. Returns nil
    /// for an empty one.
    static func line(_ text: String) -> String? {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(512) {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .format, .surrogate: scalars.append(" ")
            default: scalars.append(scalar)
            }
        }
        let words = String(scalars).split(separator: " ", omittingEmptySubsequences: true)
        return words.isEmpty ? nil : words.joined(separator: " ")
    }
}
