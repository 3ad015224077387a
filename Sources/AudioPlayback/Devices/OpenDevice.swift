import MediaFiles

/// An open device, as the status shows it and as the output treats it.
struct OpenDevice: Hashable, Sendable {
    enum Kind: Sendable { case live, file, paced }
    let kind: Kind
    let driver: String
    let description: String
    /// Whether `auto` chose it because it found nothing better.
    let isFallback: Bool
    let format: AudioFormat
}
