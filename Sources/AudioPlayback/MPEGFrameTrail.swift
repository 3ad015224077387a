/// Follows the frames of an MP3 through its file and counts the bytes that belong to none.
///
/// libmpg123 skips such bytes silently.
struct MPEGFrameTrail {
    private(set) var skippedBytes = 0
    private let window: MediaWindow
    /// The offset where the sound ends and tags begin.
    private let end: Int
    /// The offset of the next frame if nothing is skipped; nil after a seek.
    private var next: Int?
    /// The last frame, and the size of frames in the free format.
    private var last: (offset: Int, header: MPEGFrameHeader)?
    private var neighbour: (header: MPEGFrameHeader, bytes: Int)?

    init(_ window: MediaWindow) {
        self.window = window
        next = window.file.endOfLeadingTags(from: window.range.lowerBound)
        end = window.file.startOfTrailingTags(before: window.range.upperBound)
    }

    /// The size of the last frame; 0 if unknown.
    var frameBytes: Int { last.map { (next ?? $0.offset) - $0.offset } ?? 0 }

    /// Forgets the expected position: after a seek, the next frame may be anywhere.
    mutating func jump() {
        next = nil
        last = nil
    }

    /// Records a frame at `offset`. Returns whether bytes were skipped since the previous one.
    mutating func frame(at offset: Int) -> Bool {
        let expected = next
        let isFirst = last == nil
        if let last, next == nil, offset > last.offset { neighbour = (last.header, offset - last.offset) }
        last = header(at: offset).map { (offset, $0) }
        next = last?.header.frameBytes(neighbour: neighbour).map { offset + $0 }
        guard let expected, offset > expected else { return false }
        // In the free format, the first frame's size follows from the second.
        if isFirst, let first = header(at: expected), first.frameBytes(neighbour: nil) == nil {
            neighbour = (first, offset - expected)
        }
        // libmpg123 also skips valid frames: those of the encoder's delay, and the one with the Xing or Info header.
        let junk = offset - firstJunk(from: expected, to: offset)
        skippedBytes += junk
        return junk > 0
    }

    /// Counts a rejected frame as skipped bytes.
    mutating func refuse(bytes: Int) { skippedBytes += bytes }

    /// Returns the fault after the last decoded frame, if there is one.
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

/// The tags around the sound.
extension MediaFile {
    /// Returns the size of the ID3v2 tag at `offset`, with header and footer, or nil if there is none.
    func id3v2Size(at offset: Int) -> Int? {
        let head = bytes(at: offset, count: 10)
        guard head.count == 10, head.starts(with: "ID3".utf8), head[3] < 0xFF, head[6...].allSatisfy({ $0 < 0x80 })
        else { return nil }
        let size = head[6...].reduce(0) { $0 << 7 | Int($1) }
        return 10 + size + (head[5] & 0x10 != 0 ? 10 : 0)
    }

    /// Returns the end of the consecutive ID3v2 tags from `offset` on.
    func endOfLeadingTags(from offset: Int) -> Int {
        var offset = offset
        while offset < size, let tag = id3v2Size(at: offset) { offset += tag }
        return min(offset, size)
    }

    /// Returns the start of the ID3v1, APEv2 and Lyrics3v2 tags that end at `end`.
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
