import SystemSupport

/// A format of 16-bit interleaved samples in native byte order.
package struct AudioFormat: Hashable, Sendable {
    /// The sample rate in Hz, 1,000 to 384,000.
    package let rate: Int
    /// The number of channels, 1 to 8.
    package let channels: Int

    /// The rates that are played, which bounds the memory that a file's header can cause to be allocated.
    package static let rates = 1_000...384_000
    package static let channelCounts = 1...8

    /// Creates a format.
    ///
    /// - Throws: ``DecodingFault/unsupported(_:)`` if it is not played.
    package init(rate: Int, channels: Int) throws(DecodingFault) {
        guard Self.rates.contains(rate), Self.channelCounts.contains(channels) else {
            throw .unsupported("\(channels) channels at \(rate) Hz are not supported, only 1 to 8 at 1 to 384 kHz")
        }
        self.rate = rate
        self.channels = channels
    }

    /// Parses `RATE:16:CHANNELS`, MPD's notation. Returns nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 3, let rate = parts[0], parts[1] == 16, let channels = parts[2],
            let format = try? AudioFormat(rate: rate, channels: channels)
        else { return nil }
        self = format
    }

    /// Tuned: the largest time in an item, in seconds; no item is longer, and its frames at any rate fit a 64-bit integer.
    package static let latestTime = 1e7

    package var bytesPerFrame: Int { channels * MemoryLayout<Int16>.size }

    /// Returns the number of frames in `duration`, rounded.
    package func frames(_ duration: Duration) -> Int { Int((duration.seconds * Double(rate)).rounded()) }
}

/// MPD's notation: `44100:16:2`.
extension AudioFormat: CustomStringConvertible {
    package var description: String { "\(rate):16:\(channels)" }
}

/// A fault in the content of a file.
package enum DecodingFault: Error, Hashable, Sendable {
    case unrecognised
    case unsupported(String)
    /// More changes of format than ``mostChanges``.
    case changesTooOften
    /// The file has fewer frames than its header states.
    case truncated(frames: Int, of: Int)
    /// The file has fewer bytes than its header states.
    case cut(missingBytes: Int)
    /// The last page of an Ogg stream is missing.
    case unfinished
    /// Bytes were skipped to find the next valid frame.
    case damaged(skippedBytes: Int)
    /// Pages of an Ogg stream are missing.
    case missing(pages: Int)
    /// Frames could not be decoded.
    case lost(frames: Int)
    /// The library gave up, with this message.
    case broken(String)
    /// The sound did not arrive from the network, for this reason.
    case link(String)
    /// The system could not read the file, with this message.
    case unreadable(String)

    /// Tuned: the most changes of format in a file. More are damage, and each would reopen the device.
    static let mostChanges = 16

    package var reason: String {
        switch self {
        case .unrecognised: "not a supported audio format"
        case .unsupported(let what): what
        case .changesTooOften: "its format changes more than \(Self.mostChanges) times"
        case .truncated(let frames, let promised):
            "the file ends early: \(frames) of \(promised) frames"
        case .cut(let bytes): "the file ends early: \(bytes) bytes are missing"
        case .unfinished: "the file ends early: its last page is missing"
        case .damaged(let bytes): "damaged: \(bytes) bytes were skipped"
        case .missing(let pages): pages == 1 ? "damaged: a page is missing" : "damaged: \(pages) pages are missing"
        case .lost(let frames): "damaged: \(frames) frames could not be decoded"
        case .broken(let words): "damaged: \(words)"
        case .link(let reason): reason
        case .unreadable(let words): "cannot read the file: \(words)"
        }
    }
}
