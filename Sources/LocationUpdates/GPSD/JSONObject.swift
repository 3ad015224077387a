import Glibc

extension UnsafeMutableBufferPointer<CChar> {
    /// Removes the numbers that gpsd sends with a fix and that are not used, because libgps compares each name with dozens of its
    /// own. Everything else stays as it is.
    ///
    /// - Returns: whether this line, which is followed by a NUL, is one JSON object from the first byte to the last, judged by
    ///   braces, brackets and strings.
    func condenseObject() -> Bool {
        guard let start = baseAddress else { return false }
        return start.withMemoryRebound(to: UInt8.self, capacity: count) { base in
            condense(UnsafeMutableBufferPointer<UInt8>(start: base, count: count), base)
        }
    }
}

private func condense(_ line: UnsafeMutableBufferPointer<UInt8>, _ base: UnsafeMutablePointer<UInt8>) -> Bool {
    var members = MemberCut(base: base)
    var depth = 0
    var index = 0
    while index < line.count {
        let byte = base[index]
        switch byte {
        // The bytes of numbers first, because they are the most frequent.
        case UInt8(ascii: "-")...UInt8(ascii: "Z"): break
        case UInt8(ascii: "\""):
            members.text(at: index, depth: depth, count: line.count)
            guard let end = endOfString(line, after: index) else { return false }
            index = end
        case UInt8(ascii: ",") where depth == 1: members.comma(at: index)
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            members.keep()
            depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            if depth == 1 { members.end(at: index) }
            depth -= 1
            if depth <= 0 {
                // Only white space may follow.
                guard line[(index + 1)...].allSatisfy({ $0 != 0 && $0 <= 0x20 }), depth == 0 else { return false }
                members.finish(count: line.count)
                return true
            }
        case 0: return false
        default: break
        }
        index += 1
    }
    return false
}

/// Returns the index of the quote that ends the string beginning at `start`.
private func endOfString(_ line: UnsafeMutableBufferPointer<UInt8>, after start: Int) -> Int? {
    var index = start + 1
    while index < line.count {
        switch line[index] {
        case UInt8(ascii: "\""): return index
        case UInt8(ascii: "\\"):
            index += 1
            guard index < line.count, line[index] != 0 else { return nil }
        case 0: return nil
        default: break
        }
        index += 1
    }
    return nil
}

/// Removes members from an object during a single pass.
private struct MemberCut {
    let base: UnsafeMutablePointer<UInt8>
    /// How many bytes of the result are in place.
    private var kept = 0
    /// The bytes from here on have not been moved yet.
    private var copied = 0
    /// The comma before the current member.
    private var comma = -1
    private var isUnread = false

    init(base: UnsafeMutablePointer<UInt8>) { self.base = base }

    /// Notes the beginning of a name or a text; a member with a text is not a number and is kept.
    mutating func text(at index: Int, depth: Int, count: Int) {
        isUnread = comma == index - 1 && depth == 1 && index + 4 < count && Self.isUnread(base + index + 1)
    }

    mutating func keep() { isUnread = false }

    mutating func comma(at index: Int) {
        end(at: index)
        comma = index
    }

    mutating func end(at index: Int) {
        if isUnread {
            move(upTo: comma)
            copied = index
        }
        isUnread = false
    }

    mutating func finish(count: Int) {
        guard copied > 0 else { return }
        move(upTo: count)
        base[kept] = 0
    }

    private mutating func move(upTo index: Int) {
        memmove(base + kept, base + copied, index - copied)
        kept += index - copied
    }

    /// Returns whether a name with these first four bytes is unused; a shorter name includes its closing quote.
    private static func isUnread(_ name: UnsafeMutablePointer<UInt8>) -> Bool {
        switch (name[0], name[1], name[2], name[3]) {
        case (UInt8(ascii: "a"), UInt8(ascii: "l"), UInt8(ascii: "t"), UInt8(ascii: "\"")),
            (UInt8(ascii: "c"), UInt8(ascii: "l"), UInt8(ascii: "i"), UInt8(ascii: "m")),
            (UInt8(ascii: "e"), UInt8(ascii: "p"), UInt8(ascii: "c"), UInt8(ascii: "\"")),
            (UInt8(ascii: "e"), UInt8(ascii: "p"), UInt8(ascii: "d"), UInt8(ascii: "\"")),
            (UInt8(ascii: "e"), UInt8(ascii: "p"), UInt8(ascii: "s"), UInt8(ascii: "\"")),
            (UInt8(ascii: "e"), UInt8(ascii: "p"), UInt8(ascii: "t"), UInt8(ascii: "\"")),
            (UInt8(ascii: "g"), UInt8(ascii: "e"), UInt8(ascii: "o"), UInt8(ascii: "i")),
            (UInt8(ascii: "m"), UInt8(ascii: "a"), UInt8(ascii: "g"), UInt8(ascii: "t")),
            (UInt8(ascii: "m"), UInt8(ascii: "a"), UInt8(ascii: "g"), UInt8(ascii: "v")),
            (UInt8(ascii: "s"), UInt8(ascii: "e"), UInt8(ascii: "p"), UInt8(ascii: "\"")):
            true
        default: false
        }
    }
}
