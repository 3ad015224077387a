/// The tags around the sound of an MP3.
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
