/// The packets at the front of an Ogg file's first stream (RFC 3533), of which only the headers are wanted.
///
/// judgement: at most 16,384 pages and 32 MiB are gone through, also where they are of other streams.
final class OggPackets {
    private let file: MediaFile
    private var offset = 0
    private var pages = 0
    private var given = 0
    private var serial: ArraySlice<UInt8>?
    /// The sizes of the packets' parts in the present page that were not given yet, and where the first of them begins.
    private var lacing: ArraySlice<UInt8> = []
    private var body = 0
    /// The present packet goes on.
    private var isOpen = false

    init(_ file: MediaFile) { self.file = file }

    /// The bytes of the next packet. What was not taken of the one before it is passed over.
    func next() -> TagBytes {
        while isOpen, piece() != nil {}
        isOpen = true
        return TagBytes { [self] in piece() }
    }

    /// What the present page has of the packet, or the next page.
    private func piece() -> [UInt8]? {
        guard isOpen else { return nil }
        while lacing.isEmpty {
            guard nextPage() else {
                isOpen = false
                return nil
            }
        }
        // A part of 255 bytes is followed by another one of the same packet.
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
