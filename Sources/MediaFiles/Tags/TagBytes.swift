/// Reads the bytes of a block or packet that arrives in pieces. Only one thread may use it at a time.
///
/// It holds only the current piece, so a large stated length takes no memory before its bytes arrive.
struct TagBytes: ~Copyable {
    private var piece: [UInt8] = []
    private var consumed = 0
    /// Returns the next piece; empty or nil at the end.
    private let next: () -> [UInt8]?

    init(_ next: @escaping () -> [UInt8]?) { self.next = next }

    /// Returns the next `count` bytes, or nil if there are fewer.
    mutating func read(_ count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        guard advance(count, { bytes.append(contentsOf: $0) }) else { return nil }
        return bytes
    }

    /// Skips `count` bytes. Returns false if there are fewer.
    mutating func skip(_ count: Int) -> Bool { advance(count) { _ in } }

    /// Returns the next four bytes as a little-endian number.
    mutating func littleEndian32() -> Int? { read(4).map { $0.reversed().reduce(0) { $0 << 8 | Int($1) } } }

    /// Returns the next four bytes as a big-endian number.
    mutating func bigEndian32() -> Int? { read(4).map { $0.reduce(0) { $0 << 8 | Int($1) } } }

    private mutating func advance(_ count: Int, _ body: (ArraySlice<UInt8>) -> Void) -> Bool {
        var left = count
        while left > 0 {
            if consumed == piece.count {
                guard let new = next(), !new.isEmpty else { return false }
                (piece, consumed) = (new, 0)
            }
            let end = min(piece.count, consumed + left)
            body(piece[consumed..<end])
            left -= end - consumed
            consumed = end
        }
        return true
    }
}

extension MediaFile {
    /// Returns the bytes of `range`, up to the end of the file.
    func tagBytes(_ range: Range<Int>) -> TagBytes {
        var offset = range.lowerBound
        return TagBytes {
            let bytes = self.bytes(at: offset, count: min(1 << 14, range.upperBound - offset))
            offset += bytes.count
            return bytes
        }
    }
}
