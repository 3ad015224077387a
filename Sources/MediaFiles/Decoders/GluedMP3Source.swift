/// A source of several MP3s in one file, as `cat a.mp3 b.mp3` makes it. Each is decoded on its own, so that its delay and
/// padding are trimmed, and they join without gaps.
final class GluedMP3Source: SampleSource {
    private let file: MediaFile
    private let parts: [Range<Int>]
    private var index = 0
    private var source: MP3Source
    private var changes = 0
    /// The fault of the parts before the current one.
    private var earlierFault: DecodingFault?

    /// - Parameter parts: the result of ``parts(of:)``.
    init(_ file: MediaFile, _ parts: [Range<Int>]) throws(DecodingFault) {
        self.file = file
        self.parts = parts
        source = try MP3Source(file, parts[0])
    }

    var format: AudioFormat { source.format }
    var bitrate: Int? { source.bitrate }
    var fault: DecodingFault? { earlierFault ?? source.fault }

    private func open(_ index: Int) throws(DecodingFault) {
        source = try MP3Source(file, parts[index])
        self.index = index
    }

    func seek(toFrame frame: Int) throws(DecodingFault) {
        let rate = format.rate
        var left = max(0, frame)
        for index in parts.indices {
            try open(index)
            let (whole, part) = left.quotientAndRemainder(dividingBy: rate)
            let frames = (whole * source.format.rate) + part * source.format.rate / rate
            if frames < source.length || index == parts.count - 1 { return try source.seek(toFrame: frames) }
            left -= source.length * rate / source.format.rate
        }
    }

    func read(into samples: UnsafeMutableBufferPointer<Int16>) throws(DecodingFault) -> SampleRead {
        while true {
            let result = try source.read(into: samples)
            guard result == .end, index + 1 < parts.count else { return result }
            let before = format
            earlierFault = fault
            try open(index + 1)
            guard format != before else { continue }
            changes += 1
            guard changes <= DecodingFault.mostChanges else { throw .changesTooOften }
            return .changed
        }
    }

    func metadata() throws(DecodingFault) -> Metadata {
        var metadata = try source.metadata()
        guard let rate = metadata.format?.rate else { return metadata }
        for part in parts.dropFirst() {
            guard let other = try? MP3Source(file, part) else { continue }
            metadata.frames = (metadata.frames ?? 0) + other.length * rate / other.format.rate
        }
        return metadata
    }
}

extension GluedMP3Source {
    /// Tuned: a file with more parts is read as one MP3; real files have a few.
    private static let mostParts = 1_000

    /// Returns the ranges of the MP3s in `file`. Another one begins where an Xing or Info header says that its MP3 ends and
    /// another such header follows.
    static func parts(of file: MediaFile) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var start = 0
        while parts.count < mostParts, let end = statedEnd(of: start, in: file) {
            let next = end + tagBytes(at: end, in: file)
            guard next > start, next < file.size, statedEnd(of: next, in: file) != nil else { break }
            parts.append(start..<next)
            start = next
        }
        return parts + [start..<file.size]
    }

    /// Returns the end that the header of the MP3 at `start` states.
    private static func statedEnd(of start: Int, in file: MediaFile) -> Int? {
        let sound = file.endOfLeadingTags(from: start)
        guard let frame = MPEGFrameHeader(file.bytes(at: sound, count: MPEGFrameHeader.size)) else { return nil }
        let head = file.bytes(at: sound + MPEGFrameHeader.size + frame.sideInformationBytes, count: 16)
        guard head.count == 16, head.starts(with: "Info".utf8) || head.starts(with: "Xing".utf8) else { return nil }
        func number(_ offset: Int) -> Int { head[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        // The number of frames, if present, precedes the number of bytes.
        guard number(4) & 2 != 0 else { return nil }
        return sound + number(number(4) & 1 != 0 ? 12 : 8)
    }

    /// Returns the size of the APEv2 and ID3v1 tags that end an MP3. ID3v2 tags belong to the next one.
    private static func tagBytes(at offset: Int, in file: MediaFile) -> Int {
        var count = 0
        let ape = file.bytes(at: offset, count: 16)
        if ape.count == 16, ape.starts(with: "APETAGEX".utf8) {
            count = 32 + (12..<16).reversed().reduce(0) { $0 << 8 | Int(ape[$1]) }
        }
        if file.bytes(at: offset + count, count: 3).elementsEqual("TAG".utf8) { count += 128 }
        return count
    }
}
