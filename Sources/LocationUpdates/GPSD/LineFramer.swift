import Glibc

/// Splits a stream of bytes into lines in bounded memory. A line above the limit is skipped to its end and counted.
struct LineFramer: ~Copyable {
    private let buffer: UnsafeMutableBufferPointer<CChar>
    private var count = 0
    private var isSkipping = false
    /// Lines that were longer than the limit.
    private(set) var skipped = 0
    private let limit: Int
    static let lineLimit = 65_536
    private static let block = 16_384
    /// The most that one call of ``drain(_:_:)`` reads, which becomes one transaction.
    private static let mostAtOnce = 1 << 20

    init(limit: Int = Self.lineLimit) {
        self.limit = limit
        buffer = .allocate(capacity: limit + Self.block + 1)
    }

    deinit { buffer.deallocate() }

    /// Repeats ``fill(_:_:)`` while blocks are full, so that a reader that lags behind catches up in one transaction.
    ///
    /// - Returns: the number of bytes read, or the result of the first `read` if it was 0 or negative.
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

    /// Reads once with `read` and calls `body` with each line that this completes.
    ///
    /// The line excludes its end, is followed by a NUL, and may be changed by `body`.
    ///
    /// - Returns: the result of `read`.
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
