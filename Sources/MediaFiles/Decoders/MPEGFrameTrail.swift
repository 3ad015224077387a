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
