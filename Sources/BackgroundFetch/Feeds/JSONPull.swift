/// A pull parser for JSON (RFC 8259) that keeps only the values that its user reads.
///
/// Each value must be read or skipped before the next. Skipping a value allocates no memory for it, but validates it as
/// strictly as reading does.
struct JSONPull {
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0
    private let skippedLines: Int

    /// - Parameter skippedLines: the number of lines before `bytes`, for line numbers in errors.
    init(_ bytes: [UInt8], skippedLines: Int) {
        self.bytes = bytes
        self.skippedLines = skippedLines
    }

    /// The first byte of the next token; `nil` at the end. Skips whitespace.
    var next: UInt8? {
        mutating get {
            while position < bytes.count, [0x20, 0x0A, 0x0D, 0x09].contains(bytes[position]) {
                position += 1
            }
            return position < bytes.count ? bytes[position] : nil
        }
    }

    /// Reads the object that follows. `body` is called with each name, and must read or skip the value.
    mutating func object(_ body: (inout JSONPull, String) throws(FeedError) -> Void) throws(FeedError) {
        try enter("{")
        if next == UInt8(ascii: "}") { return leave() }
        while true {
            let name = try string(limit: 256)
            try expect(":")
            try body(&self, name)
            if next == UInt8(ascii: "}") { return leave() }
            try expect(",")
        }
    }

    /// Reads the array that follows. `body` is called for each element, and must read or skip it.
    mutating func array(_ body: (inout JSONPull) throws(FeedError) -> Void) throws(FeedError) {
        try enter("[")
        if next == UInt8(ascii: "]") { return leave() }
        while true {
            try body(&self)
            if next == UInt8(ascii: "]") { return leave() }
            try expect(",")
        }
    }

    /// Reads a value and returns the text of a string or number. Skips a value of another type and returns `nil`.
    ///
    /// - Parameter limit: the number of bytes after which a string is truncated.
    mutating func text(limit: Int = FeedLimits.text) throws(FeedError) -> String? {
        guard let next else { throw unexpected() }
        switch next {
        case UInt8(ascii: "\""): return try string(limit: limit)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default:
            try skip()
            return nil
        }
    }

    /// Skips the next value.
    mutating func skip() throws(FeedError) {
        switch next {
        case UInt8(ascii: "{"): try object { (json, _) throws(FeedError) in try json.skip() }
        case UInt8(ascii: "["): try array { (json) throws(FeedError) in try json.skip() }
        case UInt8(ascii: "\""): _ = try string(limit: 0)
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        default: _ = try number()
        }
    }

    /// Throws an error unless only whitespace is left.
    mutating func end() throws(FeedError) {
        guard next == nil else { throw fault("unexpected data after the end") }
    }

    /// Returns an error with the current line.
    func fault(_ message: String) -> FeedError {
        let lines = bytes[..<min(position, bytes.count)].count { $0 == UInt8(ascii: "\n") }
        return FeedError(.damagedJSON(message), line: 1 + skippedLines + lines)
    }

    private func unexpected() -> FeedError {
        guard position < bytes.count else { return fault("unexpected end of data") }
        let byte = bytes[position]
        guard (0x21...0x7E).contains(byte) else { return fault("unexpected byte \(byte)") }
        return fault("unexpected \"\(Character(Unicode.Scalar(byte)))\"")
    }

    private mutating func enter(_ bracket: Unicode.Scalar) throws(FeedError) {
        try expect(bracket)
        depth += 1
        guard depth <= FeedLimits.depth else {
            throw FeedError(.tooDeep(limit: FeedLimits.depth), line: fault("").line)
        }
    }

    private mutating func leave() {
        position += 1
        depth -= 1
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(FeedError) {
        guard next == UInt8(ascii: character) else { throw unexpected() }
        position += 1
    }

    private mutating func word(_ word: String) throws(FeedError) {
        guard bytes[position...].starts(with: word.utf8) else { throw unexpected() }
        position += word.utf8.count
    }

    private mutating func number() throws(FeedError) -> String {
        guard next != nil else { throw unexpected() }
        let start = position
        if peek == UInt8(ascii: "-") { position += 1 }
        // RFC 8259, 6: no leading zeros.
        if peek == UInt8(ascii: "0") { position += 1 } else { try digits() }
        if peek == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
            position += 1
            if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
        return String(decoding: bytes[start..<min(position, start + 64)], as: UTF8.self)
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func digits() throws(FeedError) {
        let start = position
        while let byte = peek, (0x30...0x39).contains(byte) { position += 1 }
        guard position > start else { throw unexpected() }
    }

    /// Reads the string that follows and returns its first `limit` bytes.
    private mutating func string(limit: Int) throws(FeedError) -> String {
        try expect("\"")
        var result: [UInt8] = []
        var start = position
        func append(_ added: some Collection<UInt8>) {
            if result.count < limit { result.append(contentsOf: added.prefix(limit - result.count)) }
        }
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                guard String(validating: bytes[start..<position], as: UTF8.self) != nil else {
                    throw fault("a string is not valid UTF-8")
                }
                append(bytes[start..<position])
                position += 1
                return String(decoding: result, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard String(validating: bytes[start..<position], as: UTF8.self) != nil else {
                    throw fault("a string is not valid UTF-8")
                }
                append(bytes[start..<position])
                position += 1
                append(String(Character(try escaped())).utf8)
                start = position
            case 0..<0x20: throw fault("a control character in a string")
            default: position += 1
            }
        }
        throw unexpected()
    }

    /// Reads the escape sequence after a backslash. An unpaired surrogate becomes U+FFFD.
    private mutating func escaped() throws(FeedError) -> Unicode.Scalar {
        guard let byte = peek else { throw unexpected() }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: throw fault("an invalid escape sequence in a string")
        }
        let unit = try hexadecimal()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard (0xD800..<0xDC00).contains(unit), bytes[position...].starts(with: "\\u".utf8) else {
            return "\u{FFFD}"
        }
        let first = position
        position += 2
        let second = try hexadecimal()
        guard (0xDC00..<0xE000).contains(second) else {
            position = first
            return "\u{FFFD}"
        }
        return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (second - 0xDC00)) ?? "\u{FFFD}"
    }

    private mutating func hexadecimal() throws(FeedError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = peek.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
                throw unexpected()
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}
