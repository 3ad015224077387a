extension UnsafeMutableBufferPointer<CChar> {
    /// Whether this line is one JSON object with names, colons, values and commas in their places.
    ///
    /// libgps 3.22 does not return from `{"class":"TPV","device"class":"TPV"}`: if a name is not followed by a colon, it can parse
    /// the same object for ever. It also reads anything that is not a number as 0, which is a valid coordinate, so `null` is
    /// refused too.
    var isWellFormedObject: Bool {
        var scan = SyntaxScan()
        var position = 0
        while position < count {
            let byte = UInt8(bitPattern: self[position])
            position += 1
            if byte == 0x20 || byte == 0x09 { continue }
            switch scan.advance(over: byte) {
            case .refused: return false
            case .mark: continue
            case .string:
                while position < count, self[position] != CChar(bitPattern: UInt8(ascii: "\"")) {
                    position += self[position] == CChar(bitPattern: UInt8(ascii: "\\")) ? 2 : 1
                }
                guard position < count else { return false }
                position += 1
            case .word:
                let start = position - 1
                while position < count, UInt8(bitPattern: self[position]).isInWord { position += 1 }
                guard isNumberOrTruth(start..<position) else { return false }
            }
        }
        return scan.next == .nothing
    }

    /// Returns whether `range` holds `true`, `false` or a number as in RFC 8259, leading zeros allowed.
    private func isNumberOrTruth(_ range: Range<Int>) -> Bool {
        var word = WordScan(remainder: self[range])
        switch word.next {
        case UInt8(ascii: "t"): return word.skip("true") && word.remainder.isEmpty
        case UInt8(ascii: "f"): return word.skip("false") && word.remainder.isEmpty
        default: break
        }
        _ = word.skip("-")
        guard word.skipDigits() > 0 else { return false }
        if word.skip("."), word.skipDigits() == 0 { return false }
        if word.skip("e") || word.skip("E") {
            if !word.skip("-") { _ = word.skip("+") }
            // libgps reads a number beyond the range of a double as 0.
            guard (1...2).contains(word.skipDigits()) else { return false }
        }
        return word.remainder.isEmpty
    }
}

/// The remainder of a word. A value instead of a closure over a position, which would be checked for exclusivity at each byte.
private struct WordScan {
    var remainder: Slice<UnsafeMutableBufferPointer<CChar>>

    var next: UInt8 { remainder.first.map { UInt8(bitPattern: $0) } ?? 0 }

    mutating func skip(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard remainder.count >= count else { return false }
        for offset in 0..<count
        where UInt8(bitPattern: remainder[remainder.startIndex + offset]) != text.utf8Start[offset] {
            return false
        }
        remainder = remainder.dropFirst(count)
        return true
    }

    /// Skips digits and returns how many there were.
    mutating func skipDigits() -> Int {
        let start = remainder.startIndex
        var end = start
        while end < remainder.endIndex, (0x30...0x39).contains(UInt8(bitPattern: remainder[end])) { end += 1 }
        remainder = remainder[end...]
        return end - start
    }
}

/// A scanner of an object's syntax: the token expected next, and the depth of nesting.
private struct SyntaxScan {
    enum Next {
        case object, name, nameOrEnd, colon, value, valueOrEnd, commaOrEnd, nothing
    }

    enum Token {
        case mark, string, word, refused
    }

    private(set) var next = Next.object
    private var depth = 0
    /// One bit per level: 1 for an object, 0 for an array.
    private var kinds: UInt64 = 0
    private static let deepest = 16

    mutating func advance(over byte: UInt8) -> Token {
        switch next {
        case .value, .valueOrEnd:
            if byte.isInWord {
                next = .commaOrEnd
                return .word
            }
            switch byte {
            case UInt8(ascii: "\""):
                next = .commaOrEnd
                return .string
            case UInt8(ascii: "{"): return open(isObject: true)
            case UInt8(ascii: "["): return open(isObject: false)
            case UInt8(ascii: "]") where next == .valueOrEnd: return close(isObject: false)
            default: return .refused
            }
        case .commaOrEnd:
            switch byte {
            case UInt8(ascii: ","):
                next = kinds & 1 == 1 ? .name : .value
                return .mark
            case UInt8(ascii: "}"): return close(isObject: true)
            case UInt8(ascii: "]"): return close(isObject: false)
            default: return .refused
            }
        case .name, .nameOrEnd:
            if byte == UInt8(ascii: "\"") {
                next = .colon
                return .string
            }
            return next == .nameOrEnd && byte == UInt8(ascii: "}") ? close(isObject: true) : .refused
        case .colon:
            next = .value
            return byte == UInt8(ascii: ":") ? .mark : .refused
        case .object: return byte == UInt8(ascii: "{") ? open(isObject: true) : .refused
        case .nothing: return .refused
        }
    }

    private mutating func open(isObject: Bool) -> Token {
        guard depth < Self.deepest else { return .refused }
        depth += 1
        kinds = kinds << 1 | (isObject ? 1 : 0)
        next = isObject ? .nameOrEnd : .valueOrEnd
        return .mark
    }

    private mutating func close(isObject: Bool) -> Token {
        guard (kinds & 1 == 1) == isObject else { return .refused }
        depth -= 1
        kinds >>= 1
        next = depth == 0 ? .nothing : .commaOrEnd
        return .mark
    }
}

extension UInt8 {
    /// Whether the byte can be part of a number or a word, including those that are refused.
    fileprivate var isInWord: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "+"): true
        default: false
        }
    }
}
