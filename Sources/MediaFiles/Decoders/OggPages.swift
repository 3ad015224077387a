import SystemSupport

/// Returns the fault of an Ogg file's pages (RFC 3533), which libsndfile ignores: unreadable or missing pages, or a missing
/// last page.
///
/// Reads the whole file, or as much as it can within a second.
func faultOfOggPages(in file: MediaFile) -> DecodingFault? {
    // Tuned: nothing is decoded meanwhile, and the ring holds at least two seconds of music
    let deadline = MonotonicTime.now.nanoseconds + 1_000_000_000
    let end = file.startOfTrailingTags(before: file.size)
    let window = MediaWindow(file, 0..<end)
    var page = [UInt8](repeating: 0, count: 27 + 255 + 255 * 255)
    var skipped = 0
    var missingPages = 0
    var nextPages: [UInt32: UInt32] = [:]
    var openStreams: Set<UInt32> = []
    var offset = 0
    while offset < end {
        if MonotonicTime.now.nanoseconds > deadline {
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
        // Tuned: more streams than any file has
        if nextPages.count > 1_000 { return .damaged(skippedBytes: end - offset) }
    }
    if skipped > 0 { return .damaged(skippedBytes: skipped) }
    if missingPages > 0 { return .missing(pages: missingPages) }
    return openStreams.isEmpty ? nil : .unfinished
}

extension MediaWindow {
    /// Reads the page at `offset` into `page`. Returns its size, or nil if there is none.
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

    /// Returns the next offset after `offset` where a page may begin, or the end.
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

/// Returns the checksum of a page, computed with zeros in place of the stated one.
func oggSum(of page: UnsafeRawBufferPointer) -> UInt32 {
    var sum: UInt32 = 0
    for index in page.indices {
        let byte = (22..<26).contains(index) ? 0 : page[index]
        sum = sum << 8 ^ oggSums[Int(UInt8(sum >> 24) ^ byte)]
    }
    return sum
}

/// The table of Ogg's CRC: the remainder of each byte.
private let oggSums: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte) << 24) { sum, _ in sum & 0x8000_0000 != 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1 }
}
