import Glibc
import SystemSupport

/// Reads JSON (RFC 8259) value by value from a file of any size, in constant memory.
///
/// Each value must be read or skipped before the next. Skipping validates as strictly as reading does.
struct JSONReader: ~Copyable {
    /// The 1-based line of the next byte.
    private(set) var line = 1

    private let source: any ByteSource
    private let block: UnsafeMutableRawBufferPointer
    private var position = 0
    private var end = 0
    private var depth = 0
    /// The bytes of the string or number that is read.
    private var token: [UInt8] = []

    /// Creates a reader at the beginning of `source`, whose byte order mark is skipped.
    init(_ source: any ByteSource) throws(ImportFault) {
        self.source = source
        block = .allocate(byteCount: ImportLimits.block, alignment: 16)
        end = try source.read(into: block)
        if UnsafeRawBufferPointer(rebasing: block[..<end]).starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    deinit { block.deallocate() }

    /// The first byte of the next token; `nil` at the end. Skips white space.
    var next: UInt8? {
        mutating get throws(ImportFault) {
            while let byte = try peek() {
                switch byte {
                case 0x0A: line += 1
                case 0x20, 0x0D, 0x09: break
                default: return byte
                }
                position += 1
            }
            return nil
        }
    }

    /// Returns whether the next token begins with `character`; refuses the end of the file.
    mutating func isNext(_ character: Unicode.Scalar) throws(ImportFault) -> Bool {
        guard let next = try next else { throw damage("unexpected end of the file") }
        return next == UInt8(ascii: character)
    }

    /// Reads the object that follows. `body` is called with each name, and must read or skip the value.
    mutating func object(_ body: (inout JSONReader, String) throws(ImportFault) -> Void) throws(ImportFault) {
        try enter("{")
        if try next == UInt8(ascii: "}") { return leave() }
        while true {
            let name = try string(limit: 1024)
            try expect(":")
            try body(&self, name)
            if try next == UInt8(ascii: "}") { return leave() }
            try expect(",")
        }
    }

    /// Reads the array that follows. `body` is called for each element, and must read or skip it.
    mutating func array(_ body: (inout JSONReader) throws(ImportFault) -> Void) throws(ImportFault) {
        try enter("[")
        if try next == UInt8(ascii: "]") { return leave() }
        while true {
            try body(&self)
            if try next == UInt8(ascii: "]") { return leave() }
            try expect(",")
        }
    }

    /// Reads into an object up to the first of `names`, and returns it; `nil` if the object has none. Skips the values before it.
    mutating func firstName(of names: [String]) throws(ImportFault) -> String? {
        try enter("{")
        if try next == UInt8(ascii: "}") { return nil }
        while true {
            let name = try string(limit: 1024)
            try expect(":")
            if names.contains(name) { return name }
            try skip()
            guard try next != UInt8(ascii: "}") else { return nil }
            try expect(",")
        }
    }

    /// Skips the next value.
    mutating func skip() throws(ImportFault) {
        switch try next {
        case UInt8(ascii: "{"): try object { (json, _) throws(ImportFault) in try json.skip() }
        case UInt8(ascii: "["): try array { (json) throws(ImportFault) in try json.skip() }
        case UInt8(ascii: "\""): try readString(limit: nil)
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        default: try readNumber()
        }
    }

    /// Reads the string that follows. It may have at most `limit` bytes.
    mutating func string(limit: Int) throws(ImportFault) -> String {
        try readString(limit: limit)
        guard let string = String(validating: token, as: UTF8.self) else { throw ImportFault(.notUTF8, line: line) }
        return string
    }

    /// Reads the number that follows; `nil` if it is not finite, such as 1e999.
    mutating func number() throws(ImportFault) -> Double? {
        try readNumber()
        return token.withUnsafeBufferPointer { DecimalNumber.parse($0) }
    }

    /// Reads the number that follows as it is written.
    mutating func numeral() throws(ImportFault) -> String {
        try readNumber()
        return String(decoding: token, as: UTF8.self)
    }

    /// Refuses anything but white space.
    mutating func finish() throws(ImportFault) {
        guard try next == nil else { throw damage("unexpected data after the end") }
    }

    /// A fault at the current line.
    func damage(_ message: String) -> ImportFault { ImportFault(.damaged(format: "JSON", message), line: line) }

    // MARK: - Bytes

    @inline(__always) private mutating func peek() throws(ImportFault) -> UInt8? {
        if position == end {
            position = 0
            end = try source.read(into: block)
            if end == 0 { return nil }
        }
        return block[position]
    }

    private mutating func unexpected() throws(ImportFault) -> ImportFault {
        guard let byte = try peek() else { return damage("unexpected end of the file") }
        guard (0x21...0x7E).contains(byte) else { return damage("unexpected byte \(byte)") }
        return damage("unexpected \"\(Character(Unicode.Scalar(byte)))\"")
    }

    private mutating func enter(_ bracket: Unicode.Scalar) throws(ImportFault) {
        try expect(bracket)
        depth += 1
        guard depth <= ImportLimits.nesting else {
            throw damage("values are nested deeper than \(ImportLimits.nesting)")
        }
    }

    private mutating func leave() {
        position += 1
        depth -= 1
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(ImportFault) {
        guard try next == UInt8(ascii: character) else { throw try unexpected() }
        position += 1
    }

    mutating func word(_ word: StaticString) throws(ImportFault) {
        _ = try next
        for offset in 0..<word.utf8CodeUnitCount {
            guard try peek() == word.utf8Start[offset] else { throw try unexpected() }
            position += 1
        }
    }

    // MARK: - Numbers

    private mutating func readNumber() throws(ImportFault) {
        _ = try next
        token.removeAll(keepingCapacity: true)
        if try peek() == UInt8(ascii: "-") { takeByte() }
        // RFC 8259, 6: no leading zeros.
        if try peek() == UInt8(ascii: "0") { takeByte() } else { try readDigits() }
        if try peek() == UInt8(ascii: ".") {
            takeByte()
            try readDigits()
        }
        if let byte = try peek(), byte | 0x20 == UInt8(ascii: "e") {
            takeByte()
            if let sign = try peek(), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { takeByte() }
            try readDigits()
        }
    }

    private mutating func takeByte() {
        token.append(block[position])
        position += 1
    }

    private mutating func readDigits() throws(ImportFault) {
        let before = token.count
        while let byte = try peek(), (0x30...0x39).contains(byte) {
            guard token.count < 1024 else { throw damage("a number has more than 1024 digits") }
            takeByte()
        }
        guard token.count > before else { throw try unexpected() }
    }

    // MARK: - Strings

    /// Reads a string into `token`, which may have at most `limit` bytes; without a limit the string is only validated.
    private mutating func readString(limit: Int?) throws(ImportFault) {
        try expect("\"")
        token.removeAll(keepingCapacity: true)
        while let byte = try peek() {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                if limit == nil { try validateToken(isComplete: true) }
                return
            case UInt8(ascii: "\\"):
                position += 1
                token.append(contentsOf: String(Character(try escaped())).utf8)
            case 0..<0x20: throw damage("a control character in a string")
            default: takePlainBytes()
            }
            if let limit {
                guard token.count <= limit else { throw ImportFault(.tooLong("a string", limit: limit), line: line) }
            } else if token.count > 4096 {
                try validateToken(isComplete: false)
            }
        }
        throw damage("unexpected end of the file")
    }

    /// Appends the bytes up to the next quotation mark, escape or control character, or to the end of the block.
    private mutating func takePlainBytes() {
        let start = position
        while position < end, block[position] >= 0x20, block[position] != UInt8(ascii: "\""),
            block[position] != UInt8(ascii: "\\")
        {
            position += 1
        }
        token.append(contentsOf: block[start..<position])
    }

    /// Validates the bytes of a skipped string and discards them, except for an unfinished character.
    private mutating func validateToken(isComplete: Bool) throws(ImportFault) {
        var rest = 0
        if !isComplete, let start = token.lastIndex(where: { $0 & 0xC0 != 0x80 }), token[start] >= 0xC0 {
            rest = token.count - start
        }
        guard rest <= 4, String(validating: token.dropLast(rest), as: UTF8.self) != nil else {
            throw ImportFault(.notUTF8, line: line)
        }
        token.removeFirst(token.count - rest)
    }

    /// Reads the escape sequence after a backslash. An unpaired surrogate becomes U+FFFD.
    private mutating func escaped() throws(ImportFault) -> Unicode.Scalar {
        guard let byte = try peek() else { throw try unexpected() }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try surrogates()
        default: throw damage("an invalid escape sequence in a string")
        }
    }

    private mutating func surrogates() throws(ImportFault) -> Unicode.Scalar {
        let first = try hexadecimal()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard (0xD800..<0xDC00).contains(first), try peek() == UInt8(ascii: "\\") else { return "\u{FFFD}" }
        position += 1
        guard try peek() == UInt8(ascii: "u") else {
            token.append(contentsOf: "\u{FFFD}".utf8)
            return try escaped()
        }
        position += 1
        let second = try hexadecimal()
        if (0xDC00..<0xE000).contains(second) {
            return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)) ?? "\u{FFFD}"
        }
        token.append(contentsOf: "\u{FFFD}".utf8)
        return Unicode.Scalar(second) ?? "\u{FFFD}"
    }

    private mutating func hexadecimal() throws(ImportFault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = try peek().flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
                throw try unexpected()
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}
