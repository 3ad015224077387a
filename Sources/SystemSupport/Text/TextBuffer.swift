/// A buffer for building large texts from numbers and times without a string for each piece.
package struct TextBuffer: Sendable {
    /// The first ``count`` bytes are the text.
    private var storage: [UInt8]
    package private(set) var count = 0

    /// Creates an empty buffer with room for `capacity` bytes.
    package init(capacity: Int = 0) { storage = Array(repeating: 0, count: capacity) }

    package var bytes: ArraySlice<UInt8> { storage[..<count] }
    package var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Returns the bytes, in the memory of the buffer.
    package consuming func takeBytes() -> [UInt8] {
        storage.removeLast(storage.count - count)
        return storage
    }

    /// Appends a literal.
    package mutating func append(_ text: StaticString) {
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends a string.
    package mutating func append(text: String) {
        var text = text
        text.withUTF8 { append($0) }
    }

    /// Appends another buffer.
    package mutating func append(_ other: TextBuffer) {
        other.storage.withUnsafeBufferPointer { append(UnsafeBufferPointer(rebasing: $0[..<other.count])) }
    }

    /// Empties the buffer, keeping its memory.
    package mutating func removeAll() {
        count = 0
    }

    /// Appends a number rounded to `places` decimals, with a leading `+` if `signed`: like C's `%.Nf` and `%+.Nf` for numbers of up to
    /// 15 digits, except that zero is never negative.
    package mutating func append(_ value: Double, places: Int, signed: Bool = false) {
        var scale: UInt64 = 1
        for _ in 0..<places { scale *= 10 }
        let rounded = value.magnitude.timesRounded(Double(scale))
        // Includes numbers that are not finite.
        guard rounded < 0x1p63 else { return append(text: value.description) }
        let scaled = UInt64(rounded)
        if value < 0, scaled != 0 { append("-") } else if signed { append("+") }
        append(scaled / scale)
        guard places > 0 else { return }
        append(".")
        append(scaled % scale, width: places)
    }

    /// Appends a number like ``Swift/Double/description``, but without a zero fraction and without an exponent.
    package mutating func append(shortest value: Double) {
        // All numbers up to 2^53 that are whole are exact.
        if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 {
            if whole < 0 { append("-") }
            return append(whole.magnitude)
        }
        var text = value.description
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "e")),
            let exponent = Int(text[text.utf8.index(after: mark)...])
        else {
            return text.withUTF8 { text in
                append(UnsafeBufferPointer(rebasing: text.dropLast(text.suffix(2).elementsEqual(".0".utf8) ? 2 : 0)))
            }
        }
        let digits = text[..<mark].filter(\.isNumber)
        if value < 0 { append("-") }
        // Numbers from 2^53, which print with an exponent, have no fraction.
        let zeros = String(repeating: "0", count: exponent < 0 ? -exponent - 1 : max(0, exponent + 1 - digits.count))
        append(text: exponent < 0 ? "0." + zeros + digits : digits + zeros)
    }

    /// Appends a decimal number, padded with zeros to `width` (at most 20), and then `separator`.
    package mutating func append(_ value: UInt64, width: Int = 1, then separator: UInt8? = nil) {
        extend(by: 21) { free in
            var rest = value
            var length = 0
            repeat {
                free[20 - length] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
                length += 1
            } while rest > 0 || length < width
            free.update(from: free + (21 - length), count: length)
            if let separator { free[length] = separator }
            return separator == nil ? length : length + 1
        }
    }

    private mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
        guard let start = text.baseAddress else { return }
        extend(by: text.count) { free in
            free.update(from: start, count: text.count)
            return text.count
        }
    }

    /// Calls `write` with room for `most` bytes and one more; `write` returns how many it wrote.
    private mutating func extend(by most: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
        if count + most >= storage.count {
            storage.append(contentsOf: repeatElement(0, count: max(storage.count, most + 256)))
        }
        count += storage.withUnsafeMutableBufferPointer { all in
            all.baseAddress.map { write($0 + count) } ?? 0
        }
    }
}

extension TextBuffer {
    /// Appends a JSON string (RFC 8259, section 7).
    package mutating func append(quoted text: String) {
        append("\"")
        if text.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) {
            append(text: Self.escaped(text))
        } else {
            append(text: text)
        }
        append("\"")
    }

    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\u{8}": result += "\\b"
            case "\u{C}": result += "\\f"
            case _ where scalar.value < 0x20:
                result += "\\u00" + (scalar.value < 0x10 ? "0" : "") + String(scalar.value, radix: 16)
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Double {
    /// Returns the number as ``TextBuffer/append(_:places:signed:)`` writes it.
    package func decimals(_ places: Int, signed: Bool = false) -> String {
        var buffer = TextBuffer()
        buffer.append(self, places: places, signed: signed)
        return buffer.string
    }

    /// Returns the integer nearest to the exact product, ties to even, as C rounds. The floating-point product is already rounded:
    /// 1.115 × 100 would be above 111.5.
    fileprivate func timesRounded(_ factor: Double) -> Double {
        let product = self * factor
        let lost = (-product).addingProduct(self, factor)
        let whole = product.rounded(.down)
        let beyondHalf = product - whole - 0.5
        if beyondHalf != 0 || lost == 0 { return product.rounded(.toNearestOrEven) }
        return lost > 0 ? whole + 1 : whole
    }
}
