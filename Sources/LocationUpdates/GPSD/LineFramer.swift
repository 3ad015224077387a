import Glibc

/// Cuts a stream of bytes into lines within a bounded memory: an over-long line is skipped to its end and counted, and the next
/// one is read as if nothing had been.
struct LineFramer: ~Copyable {
    private let buffer: UnsafeMutableBufferPointer<CChar>
    private var count = 0
    private var isSkipping = false
    /// Lines that were longer than the limit.
    private(set) var skipped = 0
    private let limit: Int
    private static let block = 16_384
    /// What is read at once becomes one transaction.
    private static let mostAtOnce = 1 << 20

    init(limit: Int = Judgement.lineLimit) {
        self.limit = limit
        buffer = .allocate(capacity: limit + Self.block + 1)
    }

    deinit { buffer.deallocate() }

    /// As ``fill(_:_:)``, again and again while blocks are full: whoever lags behind takes all that there is at once.
    ///
    /// Returns how many bytes there were, or what the first `read` returned instead.
    mutating func drain(
        _ read: (UnsafeMutableRawBufferPointer) -> Int,
        _ body: (UnsafeMutableBufferPointer<CChar>) -> Void
    ) -> Int {
        var total = 0
        while true {
            let result = fill(read, body)
            guard result > 0 else { return total > 0 ? total : result }
            total += result
            if result < Self.block || total >= Self.mostAtOnce { return total }
        }
    }

    /// Reads once, with `read`, and calls `body` with each line that this completes.
    ///
    /// The line is without its end, stands in memory that `body` may change, and has a NUL behind it. Returns what `read` returned.
    mutating func fill(
        _ read: (UnsafeMutableRawBufferPointer) -> Int,
        _ body: (UnsafeMutableBufferPointer<CChar>) -> Void
    ) -> Int {
        let end = count
        let result = read(
            UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[end..<end + Self.block]))
        )
        guard result > 0, let base = buffer.baseAddress else { return result }
        count += result
        var lineStart = 0
        var searchStart = end
        while let found = memchr(base + searchStart, Int32(UInt8(ascii: "\n")), count - searchStart) {
            let newline = found.assumingMemoryBound(to: CChar.self) - base
            searchStart = newline + 1
            if isSkipping {
                isSkipping = false
            } else if newline - lineStart > limit {
                skipped += 1
            } else {
                var lineEnd = newline
                if lineEnd > lineStart, buffer[lineEnd - 1] == CChar(bitPattern: UInt8(ascii: "\r")) { lineEnd -= 1 }
                buffer[lineEnd] = 0
                body(UnsafeMutableBufferPointer(rebasing: buffer[lineStart..<lineEnd]))
            }
            lineStart = newline + 1
        }
        count -= lineStart
        if lineStart > 0 { memmove(base, base + lineStart, count) }
        if isSkipping {
            count = 0
        } else if count > limit {
            skipped += 1
            isSkipping = true
            count = 0
        }
        return result
    }
}
