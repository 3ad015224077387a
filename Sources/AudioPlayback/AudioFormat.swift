import BackgrounderAPI

/// How samples lie in memory: 16 bit, interleaved, native byte order.
struct AudioFormat: Hashable, Sendable {
    /// Frames a second, 1,000 to 384,000.
    let rate: Int
    /// 1 to 8.
    let channels: Int

    /// What is played at all: it bounds the memory that a header can ask for.
    static let rates = 1_000...384_000
    static let channelCounts = 1...8

    init(rate: Int, channels: Int) throws(DecodingFault) {
        guard Self.rates.contains(rate), Self.channelCounts.contains(channels) else {
            throw .unsupported("\(channels) channels at \(rate) Hz; played are 1 to 8 channels at 1 to 384 kHz")
        }
        self.rate = rate
        self.channels = channels
    }

    var bytesPerFrame: Int { channels * MemoryLayout<Int16>.size }

    func frames(_ duration: Duration) -> Int { Int((duration.seconds * Double(rate)).rounded()) }
}

/// What is wrong with the content of a file.
enum DecodingFault: Error, Hashable, Sendable {
    case unrecognised
    case unsupported(String)
    /// It ends before its header says: frames that came, and frames that were promised.
    case truncated(frames: Int, of: Int)
    /// Bytes that were skipped to find the next good frame.
    case damaged(skippedBytes: Int)
    /// The library gave up in the middle, in its words.
    case broken(String)

    var reason: String {
        switch self {
        case .unrecognised: "no audio that this player knows"
        case .unsupported(let what): what
        case .truncated(let frames, let promised):
            "the file ends early: \(frames) of \(promised) frames"
        case .damaged(let bytes): "damaged: \(bytes) bytes were skipped"
        case .broken(let words): "damaged: \(words)"
        }
    }
}
