/// Follows the frames of an MP3 through its file, and counts the bytes between them that are none.
///
/// libmpg123 passes over such bytes without a word.
struct MPEGFrameTrail {
    private(set) var skippedBytes = 0
    private let window: MediaWindow
    /// Where the sound ends and tags begin.
    private let end: Int
    /// Where the next frame begins if nothing is skipped; unknown after a seek.
    private var next: Int?
    /// The last frame, and how long frames of the free format are.
    private var last: (offset: Int, header: MPEGFrameHeader)?
    private var neighbour: (header: MPEGFrameHeader, bytes: Int)?

    init(_ window: MediaWindow) {
        self.window = window
        next = window.file.endOfLeadingTags(from: window.range.lowerBound)
        end = window.file.startOfTrailingTags(before: window.range.upperBound)
    }

    /// Bytes of the last frame; 0 where it is not known.
    var frameBytes: Int { last.map { (next ?? $0.offset) - $0.offset } ?? 0 }

    /// The next frame may lie anywhere.
    mutating func jump() {
        next = nil
        last = nil
    }

    /// A frame begins at `offset`. True when something was passed over since the one before.
    mutating func frame(at offset: Int) -> Bool {
        let expected = next
        let isFirst = last == nil
        if let last, next == nil, offset > last.offset { neighbour = (last.header, offset - last.offset) }
        last = header(at: offset).map { (offset, $0) }
        next = last?.header.frameBytes(neighbour: neighbour).map { offset + $0 }
        guard let expected, offset > expected else { return false }
        // Of the free format the first frame tells nothing, so the second does.
        if isFirst, let first = header(at: expected), first.frameBytes(neighbour: nil) == nil {
            neighbour = (first, offset - expected)
        }
        // The library also passes over frames: those of the encoder's delay, and the one with the Xing or Info header.
        let junk = offset - firstJunk(from: expected, to: offset)
        skippedBytes += junk
        return junk > 0
    }

    /// A frame that was refused.
    mutating func refuse(bytes: Int) { skippedBytes += bytes }

    /// What is wrong behind the last frame that was decoded.
    func faultAtEnd() -> DecodingFault? {
        guard let next, next < end else { return nil }
        let junk = firstJunk(from: next, to: end)
        guard junk < end else { return nil }
        if let bytes = frameBytes(at: junk), junk + bytes > end, end == window.file.size {
            return .cut(missingBytes: junk + bytes - end)
        }
        return .damaged(skippedBytes: skippedBytes + end - junk)
    }

    private func firstJunk(from start: Int, to end: Int) -> Int {
        var offset = start
        while offset < end, let bytes = frameBytes(at: offset), offset + bytes <= end { offset += bytes }
        return offset
    }

    private func header(at offset: Int) -> MPEGFrameHeader? {
        MPEGFrameHeader(window.peek(at: offset, count: MPEGFrameHeader.size))
    }

    private func frameBytes(at offset: Int) -> Int? { header(at: offset)?.frameBytes(neighbour: neighbour) }
}

/// Tags around the sound.
extension MediaFile {
    /// The size of the ID3v2 tag that begins at `offset`, with its header and footer; none where there is no tag.
    func id3v2Size(at offset: Int) -> Int? {
        let head = bytes(at: offset, count: 10)
        guard head.count == 10, head.starts(with: "ID3".utf8), head[3] < 0xFF, head[6...].allSatisfy({ $0 < 0x80 })
        else { return nil }
        let size = head[6...].reduce(0) { $0 << 7 | Int($1) }
        return 10 + size + (head[5] & 0x10 != 0 ? 10 : 0)
    }

    /// Behind the ID3v2 tags that follow each other from `offset` on.
    func endOfLeadingTags(from offset: Int) -> Int {
        var offset = offset
        while offset < size, let tag = id3v2Size(at: offset) { offset += tag }
        return min(offset, size)
    }

    /// Before the ID3v1, APEv2 and Lyrics3v2 tags that end at `end`.
    func startOfTrailingTags(before end: Int) -> Int {
        var end = end
        while true {
            if end >= 128, bytes(at: end - 128, count: 3).elementsEqual("TAG".utf8) {
                end -= 128
                continue
            }
            let foot = end >= 32 ? bytes(at: end - 32, count: 32) : []
            if foot.starts(with: "APETAGEX".utf8) {
                let size = (12..<16).reversed().reduce(0) { $0 << 8 | Int(foot[$1]) }
                let hasHeader = foot[23] & 0x80 != 0
                guard size >= 32, size + 32 <= end else { return end }
                end -= size + (hasHeader ? 32 : 0)
            } else if foot.suffix(9).elementsEqual("LYRICS200".utf8),
                let size = Int(String(decoding: foot[17..<23], as: UTF8.self)), size >= 0, size + 15 <= end
            {
                end -= size + 15
            } else {
                return end
            }
        }
    }
}
