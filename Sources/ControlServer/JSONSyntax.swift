import FoundationEssentials

/// A strict parser of the JSON grammar (RFC 8259).
///
/// Foundation's decoder accepts `[1,]`, and detects faults in numbers and strings only when their values are decoded, so it cannot
/// distinguish invalid JSON from JSON of another shape.
struct JSONSyntax {
    private static let depthLimit = 128  // Tuned: more than any route needs, less than the stack allows.

    private let bytes: [UInt8]
    private var position = 0

    static func isValid(_ data: Data) -> Bool {
        guard String(validating: data, as: UTF8.self) != nil else { return false }
        var syntax = JSONSyntax(bytes: Array(data))
        guard syntax.value(depth: 0) else { return false }
        syntax.skipBlanks()
        return syntax.position == syntax.bytes.count
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipWord(_ word: StaticString) -> Bool {
        let word = word.withUTF8Buffer { Array($0) }
        guard bytes[position...].starts(with: word) else { return false }
        position += word.count
        return true
    }

    private mutating func skipBlanks() {
        while let next, next == 0x20 || next == 0x0A || next == 0x0D || next == 0x09 { position += 1 }
    }

    private mutating func value(depth: Int) -> Bool {
        guard depth < Self.depthLimit else { return false }
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"):
            return list("{", "}") { syntax in
                syntax.skipBlanks()
                guard syntax.string() else { return false }
                syntax.skipBlanks()
                return syntax.skip(":") && syntax.value(depth: depth + 1)
            }
        case UInt8(ascii: "["): return list("[", "]") { $0.value(depth: depth + 1) }
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: "t"): return skipWord("true")
        case UInt8(ascii: "f"): return skipWord("false")
        case UInt8(ascii: "n"): return skipWord("null")
        default: return number()
        }
    }

    private mutating func list(
        _ opening: Unicode.Scalar,
        _ closing: Unicode.Scalar,
        _ element: (inout JSONSyntax) -> Bool
    ) -> Bool {
        guard skip(opening) else { return false }
        skipBlanks()
        if skip(closing) { return true }
        repeat {
            guard element(&self) else { return false }
            skipBlanks()
        } while skip(",")
        return skip(closing)
    }

    private mutating func string() -> Bool {
        guard skip("\"") else { return false }
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return true
            case UInt8(ascii: "\\"): guard escape() else { return false }
            case ..<0x20: return false
            default: continue
            }
        }
        return false
    }

    private mutating func escape() -> Bool {
        guard let byte = next else { return false }
        position += 1
        guard byte == UInt8(ascii: "u") else { return "\"\\/bfnrt".utf8.contains(byte) }
        let digits = bytes[position...].prefix(4)
        position += digits.count
        return digits.count == 4 && digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }

    private mutating func number() -> Bool {
        _ = skip("-")
        if !skip("0") { guard digits() else { return false } }
        if skip(".") { guard digits() else { return false } }
        if skip("e") || skip("E") {
            _ = skip("+") || skip("-")
            return digits()
        }
        return true
    }

    private mutating func digits() -> Bool {
        let start = position
        while let next, (0x30...0x39).contains(next) { position += 1 }
        return position > start
    }
}
