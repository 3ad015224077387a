/// Several MP3s in one file, as `cat a.mp3 b.mp3` makes it: each is decoded by itself, so that its delay and padding are
/// trimmed, and the others follow without a gap.
final class GluedMP3Source: SampleSource {
    private let file: MediaFile
    private let parts: [Range<Int>]
    private var index = 0
    private var source: MP3Source
    private var changes = 0
    /// Of the parts before the present one.
    private var earlierFault: DecodingFault?

    /// - Parameter parts: those of ``parts(of:)``.
    init(_ file: MediaFile, _ parts: [Range<Int>]) throws(DecodingFault) {
        self.file = file
        self.parts = parts
        source = try MP3Source(file, parts[0])
    }

    var format: AudioFormat { source.format }
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
            guard changes <= MP3Source.mostChanges else { throw .changesTooOften }
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
    /// judgement: more are read as one.
    private static let mostParts = 1_000

    /// Where the MP3s of `file` lie, one where nothing says that there are more: an Xing or Info header says how long its
    /// MP3 is, and another such header follows there.
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

    /// The end that the header of the MP3 at `start` states.
    private static func statedEnd(of start: Int, in file: MediaFile) -> Int? {
        let sound = file.endOfLeadingTags(from: start)
        guard let frame = MPEGFrameHeader(file.bytes(at: sound, count: MPEGFrameHeader.size)) else { return nil }
        let head = file.bytes(at: sound + MPEGFrameHeader.size + frame.sideInformationBytes, count: 16)
        guard head.count == 16, head.starts(with: "Info".utf8) || head.starts(with: "Xing".utf8) else { return nil }
        func number(_ offset: Int) -> Int { head[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        // The number of frames, where it is there, precedes that of bytes.
        guard number(4) & 2 != 0 else { return nil }
        return sound + number(number(4) & 1 != 0 ? 12 : 8)
    }

    /// Of an APEv2 tag and of one of ID3v1 that end an MP3; those of ID3v2 begin the next.
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
