/// The bytes of one block or packet in their order, as they come in pieces. One thread uses it at a time.
///
/// Nothing is kept but the present piece, so that a length which a file states costs no memory before its bytes have come.
struct TagBytes: ~Copyable {
    private var piece: [UInt8] = []
    private var taken = 0
    /// The next bytes; empty or `nil` at the end.
    private let next: () -> [UInt8]?

    init(_ next: @escaping () -> [UInt8]?) { self.next = next }

    /// The next `count` bytes; `nil` where there are not as many.
    mutating func read(_ count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        guard advance(count, { bytes.append(contentsOf: $0) }) else { return nil }
        return bytes
    }

    /// False where there are not as many.
    mutating func skip(_ count: Int) -> Bool { advance(count) { _ in } }

    /// The next four bytes as a number, the least first.
    mutating func littleEndian32() -> Int? { read(4).map { $0.reversed().reduce(0) { $0 << 8 | Int($1) } } }

    /// The next four bytes as a number, the greatest first.
    mutating func bigEndian32() -> Int? { read(4).map { $0.reduce(0) { $0 << 8 | Int($1) } } }

    private mutating func advance(_ count: Int, _ take: (ArraySlice<UInt8>) -> Void) -> Bool {
        var left = count
        while left > 0 {
            if taken == piece.count {
                guard let new = next(), !new.isEmpty else { return false }
                (piece, taken) = (new, 0)
            }
            let end = min(piece.count, taken + left)
            take(piece[taken..<end])
            left -= end - taken
            taken = end
        }
        return true
    }
}

extension MediaFile {
    /// The bytes of `range`, as far as the file goes.
    func tagBytes(_ range: Range<Int>) -> TagBytes {
        var offset = range.lowerBound
        return TagBytes {
            let bytes = self.bytes(at: offset, count: min(1 << 14, range.upperBound - offset))
            offset += bytes.count
            return bytes
        }
    }
}
