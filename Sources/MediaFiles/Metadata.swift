package import BackgrounderAPI

/// The metadata in a file's content.
package struct Metadata: Hashable, Sendable {
    package var title: String?
    package var artist: String?
    package var album: String?
    package var frames: Int?
    package var format: AudioFormat?
    package var codec: String?

    /// Replaces the metadata of `item`.
    package func fill(_ item: inout PlayerItem) {
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
    package static func line(_ text: String) -> String? {
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

/// Returns text from outside in a form that is safe in a log line.
package func printable(_ text: String) -> String { Metadata.line(text) ?? "" }
