import Glibc

extension UnsafeMutableBufferPointer<CChar> {
    /// Whether this line, which has a NUL behind it, is one JSON object from the first byte to the last, as far as braces, brackets and
    /// strings tell.
    ///
    /// Of such a one it leaves out the numbers that gpsd sends with a fix and that nobody here reads: libgps compares each name with
    /// dozens of its own. All else stays as it is.
    func condenseObject() -> Bool {
        guard let base = baseAddress else { return false }
        var scan = ObjectScan()
        for index in indices {
            let byte = UInt8(bitPattern: base[index])
            if byte == 0 { return false }
            if scan.isString {
                if scan.isEscaped {
                    scan.isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    scan.isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    scan.isString = false
                }
                continue
            }
            // Digits and letters, which are most.
            if byte > UInt8(ascii: ","), byte != UInt8(ascii: "{"), byte != UInt8(ascii: "["),
                byte != UInt8(ascii: "}"), byte != UInt8(ascii: "]")
            {
                if scan.isOver { return false }
                continue
            }
            if scan.isOver, byte > 0x20 { return false }
            scan.take(byte, at: index, of: self, base)
        }
        guard scan.isOver else { return false }
        if scan.copied > 0 {
            scan.keep(upTo: count, of: base)
            base[scan.kept] = 0
        }
        return true
    }
}

/// Where a look over an object stands.
private struct ObjectScan {
    var depth = 0
    var isString = false
    var isEscaped = false
    var isOver = false
    /// The bytes before this index are as they stay.
    private(set) var kept = 0
    /// The bytes from here on are still where they were read.
    private(set) var copied = 0
    /// The comma before the member of the object that is looked at.
    private var comma = -1
    private var isUnread = false

    /// The first four bytes of the names, with the quote behind a shorter one.
    private static let unread: [UInt32] = [
        "alt\"", "clim", "epc\"", "epd\"", "eps\"", "ept\"", "geoi", "magt", "magv", "sep\"",
    ].map { (name: StaticString) in UnsafeRawPointer(name.utf8Start).loadUnaligned(as: UInt32.self) }

    mutating func take(
        _ byte: UInt8,
        at index: Int,
        of line: UnsafeMutableBufferPointer<CChar>,
        _ base: UnsafeMutablePointer<CChar>
    ) {
        switch byte {
        case UInt8(ascii: "\""):
            isString = true
            // The begin of a name; at that of a text, which is no number, what was found is taken back.
            isUnread =
                depth == 1 && comma == index - 1 && index + 4 < line.count
                && Self.unread.contains(UnsafeRawPointer(base + index + 1).loadUnaligned(as: UInt32.self))
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            depth += 1
            isUnread = false
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            if depth == 1 { endMember(at: index, of: base) }
            depth -= 1
            isOver = depth == 0
        case UInt8(ascii: ",") where depth == 1:
            endMember(at: index, of: base)
            comma = index
        default: break
        }
    }

    private mutating func endMember(at index: Int, of base: UnsafeMutablePointer<CChar>) {
        if isUnread {
            keep(upTo: comma, of: base)
            copied = index
        }
        isUnread = false
    }

    /// Moves what lies before `index` to where the next byte that stays belongs.
    mutating func keep(upTo index: Int, of base: UnsafeMutablePointer<CChar>) {
        memmove(base + kept, base + copied, index - copied)
        kept += index - copied
        copied = index
    }
}
