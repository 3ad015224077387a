/// The first packets of an Ogg file's first stream (RFC 3533), which are its headers.
///
/// Tuned: reads at most 16,384 pages and 32 MiB, other streams included; headers with a large picture fit.
final class OggPackets {
    private let file: MediaFile
    private var offset = 0
    private var pages = 0
    private var given = 0
    private var serial: ArraySlice<UInt8>?
    /// The sizes of the current page's unread segments, and the offset of the first.
    private var lacing: ArraySlice<UInt8> = []
    private var body = 0
    /// The current packet continues.
    private var isOpen = false

    init(_ file: MediaFile) { self.file = file }

    /// Returns the bytes of the next packet. Skips the unread rest of the previous one.
    func next() -> TagBytes {
        while isOpen, piece() != nil {}
        isOpen = true
        return TagBytes { [self] in piece() }
    }

    /// Returns the packet's next bytes, from the current or the next page.
    private func piece() -> [UInt8]? {
        guard isOpen else { return nil }
        while lacing.isEmpty {
            guard nextPage() else {
                isOpen = false
                return nil
            }
        }
        // A segment of 255 bytes is followed by another one of the same packet.
        let full = lacing.prefix { $0 == 255 }.count
        let parts = min(full + 1, lacing.count)
        let count = lacing.prefix(parts).reduce(0) { $0 + Int($1) }
        isOpen = full == parts
        lacing = lacing.dropFirst(parts)
        let bytes = file.bytes(at: body, count: count)
        body += count
        given += count
        guard bytes.count == count, given <= 32 << 20 else {
            isOpen = false
            return nil
        }
        return bytes
    }

    private func nextPage() -> Bool {
        while pages < 16_384 {
            pages += 1
            let header = file.bytes(at: offset, count: 27 + 255)
            guard header.count >= 27, header.starts(with: "OggS".utf8) else { return false }
            let count = Int(header[26])
            guard header.count >= 27 + count else { return false }
            let sizes = header[27..<27 + count]
            body = offset + 27 + count
            offset = body + sizes.reduce(0) { $0 + Int($1) }
            if serial == nil { serial = header[14..<18] }
            guard serial?.elementsEqual(header[14..<18]) == true else { continue }
            lacing = sizes
            return true
        }
        return false
    }
}
