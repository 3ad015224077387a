import BackgrounderAPI

/// How samples lie in memory: 16 bit, interleaved, native byte order.
package struct AudioFormat: Hashable, Sendable {
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

    /// `RATE:16:CHANNELS`, as MPD writes it; `nil` for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 3, let rate = parts[0], parts[1] == 16, let channels = parts[2],
            let format = try? AudioFormat(rate: rate, channels: channels)
        else { return nil }
        self = format
    }

    var bytesPerFrame: Int { channels * MemoryLayout<Int16>.size }

    func frames(_ duration: Duration) -> Int { Int((duration.seconds * Double(rate)).rounded()) }
}

/// MPD's notation: `44100:16:2`.
extension AudioFormat: CustomStringConvertible {
    package var description: String { "\(rate):16:\(channels)" }
}

/// What is wrong with the content of a file.
enum DecodingFault: Error, Hashable, Sendable {
    case unrecognised
    case unsupported(String)
    /// More changes of format than ``MP3Source/mostChanges``.
    case changesTooOften
    /// It ends before its header says: frames that came, and frames that were promised.
    case truncated(frames: Int, of: Int)
    /// It ends before its header says.
    case cut(missingBytes: Int)
    /// A stream of pages whose last one is not there.
    case unfinished
    /// Bytes that were skipped to find the next good frame.
    case damaged(skippedBytes: Int)
    /// Pages of a stream that are not there.
    case missing(pages: Int)
    /// Frames that could not be decoded.
    case lost(frames: Int)
    /// The library gave up in the middle, in its words.
    case broken(String)
    /// The system did not give what is in it, in its words.
    case unreadable(String)

    var reason: String {
        switch self {
        case .unrecognised: "no audio that this player knows"
        case .unsupported(let what): what
        case .changesTooOften: "its format changes more than \(MP3Source.mostChanges) times"
        case .truncated(let frames, let promised):
            "the file ends early: \(frames) of \(promised) frames"
        case .cut(let bytes): "the file ends early: \(bytes) bytes are missing"
        case .unfinished: "the file ends early: its last page is missing"
        case .damaged(let bytes): "damaged: \(bytes) bytes were skipped"
        case .missing(let pages): pages == 1 ? "damaged: a page is missing" : "damaged: \(pages) pages are missing"
        case .lost(let frames): "damaged: \(frames) frames could not be decoded"
        case .broken(let words): "damaged: \(words)"
        case .unreadable(let words): "cannot be read: \(words)"
        }
    }
}
