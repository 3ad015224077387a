/// What is wrong with the pages of an Ogg file (RFC 3533), which libsndfile passes over without a word: some cannot be
/// read, some are missing, or the last one is.
///
/// Reads the whole file, or as far as it comes within a second.
func faultOfOggPages(in file: MediaFile) -> DecodingFault? {
    // judgement: meanwhile nothing is decoded, and of the music there are two seconds at the least
    let deadline = monotonicNow() + 1_000_000_000
    let end = file.startOfTrailingTags(before: file.size)
    let window = MediaWindow(file, 0..<end)
    var page = [UInt8](repeating: 0, count: 27 + 255 + 255 * 255)
    var skipped = 0
    var missingPages = 0
    var nextPages: [UInt32: UInt32] = [:]
    var openStreams: Set<UInt32> = []
    var offset = 0
    while offset < end {
        if monotonicNow() > deadline {
            openStreams = []
            break
        }
        guard let size = window.oggPage(at: offset, into: &page) else {
            let next = window.nextOggMark(after: offset, &page)
            skipped += next - offset
            offset = next
            continue
        }
        let serial = page.number(at: 14)
        let number = page.number(at: 18)
        if let expected = nextPages[serial], number > expected { missingPages += Int(number - expected) }
        nextPages[serial] = number &+ 1
        if page[5] & 4 != 0 { openStreams.remove(serial) } else { openStreams.insert(serial) }
        offset += size
        // judgement: more streams than any file has
        if nextPages.count > 1_000 { return .damaged(skippedBytes: end - offset) }
    }
    if skipped > 0 { return .damaged(skippedBytes: skipped) }
    if missingPages > 0 { return .missing(pages: missingPages) }
    return openStreams.isEmpty ? nil : .unfinished
}

extension MediaWindow {
    /// The size of the whole page at `offset`, which is put into `page`; none where there is none.
    fileprivate func oggPage(at offset: Int, into page: inout [UInt8]) -> Int? {
        _ = seek(offset, 0)
        return page.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress, read(into: start, count: 27) == 27, bytes.starts(with: "OggS".utf8)
            else { return nil }
            let segments = Int(bytes[26])
            guard read(into: start + 27, count: segments) == segments else { return nil }
            let body = bytes[27..<27 + segments].reduce(0) { $0 + Int($1) }
            guard read(into: start + 27 + segments, count: body) == body else { return nil }
            let size = 27 + segments + body
            let sum = oggSum(of: UnsafeRawBufferPointer(rebasing: bytes[..<size]))
            let stated = (22..<26).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[$1]) }
            return sum == stated ? size : nil
        }
    }

    /// Where the next page may begin behind `offset`, at the latest the end.
    fileprivate func nextOggMark(after offset: Int, _ buffer: inout [UInt8]) -> Int {
        let mark = Array("OggS".utf8)
        var start = offset + 1
        while start < range.count {
            _ = seek(start, 0)
            let count = buffer.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.map { read(into: $0, count: min(bytes.count, 1 << 14)) } ?? 0
            }
            guard count >= mark.count else { break }
            for index in 0...count - mark.count where buffer[index] == mark[0] {
                if buffer[index..<index + mark.count].elementsEqual(mark) { return start + index }
            }
            start += count - mark.count + 1
        }
        return range.count
    }
}

extension [UInt8] {
    fileprivate func number(at offset: Int) -> UInt32 {
        (offset..<offset + 4).reversed().reduce(0) { $0 << 8 | UInt32(self[$1]) }
    }
}

/// The sum that a page must state, which counts its own place as zeros.
func oggSum(of page: UnsafeRawBufferPointer) -> UInt32 {
    var sum: UInt32 = 0
    for index in page.indices {
        let byte = (22..<26).contains(index) ? 0 : page[index]
        sum = sum << 8 ^ oggSums[Int(UInt8(sum >> 24) ^ byte)]
    }
    return sum
}

/// The remainders of a byte by the polynomial of Ogg's sums.
private let oggSums: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte) << 24) { sum, _ in sum & 0x8000_0000 != 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1 }
}
