/// Checks how large the list of files of a zip archive is before libzip reads it.
///
/// libzip allocates memory for as many files as the end of the archive states.
enum ZipDirectory {
    /// The end record (APPNOTE.TXT, 4.3.16) and the longest comment after it.
    private static let tail = 22 + 65_535

    /// Refuses an archive with too many files, and a file without the end of an archive.
    static func check(_ file: ImportFile) throws(ImportFault) {
        let start = max(0, file.size - tail)
        let bytes = try file.bytes(at: start, count: min(file.size, tail))
        var isFound = false
        var index = bytes.count - 20
        while index >= 0 {
            defer { index -= 1 }
            guard bytes[index] == 0x50, bytes[index + 1] == 0x4B else { continue }
            switch (bytes[index + 2], bytes[index + 3]) {
            // The end record. A comment may contain another one, and libzip chooses.
            case (5, 6) where index + 22 <= bytes.count:
                isFound = true
                let (count, size) = (number(bytes, index + 10, 2), number(bytes, index + 12, 4))
                // With these values the real ones are in the Zip64 record.
                try check(count: count == 0xFFFF ? 0 : count, size: size == 0xFFFF_FFFF ? 0 : size)
            // The locator of the Zip64 end record (4.3.15).
            case (6, 7): try checkZip64(file, at: number(bytes, index + 8, 8))
            default: continue
            }
        }
        guard isFound else { throw ImportFault(.archive("not a zip archive, or cut off; download it again")) }
    }

    /// Checks the Zip64 end record (4.3.14), if there is one at `offset`.
    private static func checkZip64(_ file: ImportFile, at offset: Int) throws(ImportFault) {
        guard offset >= 0, offset <= file.size - 56 else { return }
        let record = try file.bytes(at: offset, count: 56)
        guard record.count == 56, record.starts(with: [0x50, 0x4B, 6, 6]) else { return }
        try check(count: number(record, 32, 8), size: number(record, 40, 8))
    }

    private static func check(count: Int, size: Int) throws(ImportFault) {
        guard (0...ImportLimits.entries).contains(count), (0...ImportLimits.directory).contains(size) else {
            throw ImportFault(
                .archive("more than \(ImportLimits.entries) files in the archive; a GTFS feed has about 20")
            )
        }
    }

    /// Returns a little-endian number; it is negative if it exceeds `Int`.
    private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int {
        bytes[start..<start + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
