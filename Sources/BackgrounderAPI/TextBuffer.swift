package import FoundationEssentials

/// Text that is put together from numbers and times, a million lines of it: bytes, and no string for each piece.
package struct TextBuffer: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package var string: String { String(decoding: bytes, as: UTF8.self) }

    package mutating func append(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    package mutating func append(_ other: TextBuffer) {
        bytes.append(contentsOf: other.bytes)
    }

    package mutating func append(text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Rounded to `places` digits behind the point, with `+` where `signed` asks for it: C's `%.Nf` and `%+.Nf` for numbers
    /// of up to 15 digits, but zero is never negative.
    package mutating func append(_ value: Double, places: Int, signed: Bool = false) {
        var scale: UInt64 = 1
        for _ in 0..<places { scale *= 10 }
        guard value.isFinite, let scaled = UInt64(exactly: value.magnitude.timesRounded(Double(scale))) else {
            return append(text: value.description)
        }
        if value < 0, scaled != 0 { bytes.append(UInt8(ascii: "-")) } else if signed { bytes.append(UInt8(ascii: "+")) }
        append(scaled / scale, width: 1)
        guard places > 0 else { return }
        bytes.append(UInt8(ascii: "."))
        append(scaled % scale, width: places)
    }

    /// ``ISO8601/string(_:)``.
    package mutating func append(_ date: Date) {
        ISO8601.write(date) { append($0, width: $1, then: $2) }
    }

    /// In decimal, filled up with zeros to `width`.
    mutating func append(_ value: UInt64, width: Int, then separator: UInt8? = nil) {
        var digits = (UInt64(0), UInt64(0), UInt32(0))  // room for 20
        withUnsafeMutableBytes(of: &digits) { digits in
            var rest = value
            var start = digits.count
            repeat {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0 || digits.count - start < width
            bytes.append(contentsOf: digits[start...])
        }
        if let separator { bytes.append(separator) }
    }
}

extension Double {
    /// As ``TextBuffer/append(_:places:signed:)``.
    package func decimals(_ places: Int, signed: Bool = false) -> String {
        var buffer = TextBuffer()
        buffer.append(self, places: places, signed: signed)
        return buffer.string
    }

    /// The whole number nearest to the exact product, and of two the even one, as C rounds; the product itself is already
    /// rounded, and 1.115 × 100 would be over 111.5.
    fileprivate func timesRounded(_ factor: Double) -> Double {
        let product = self * factor
        let lost = (-product).addingProduct(self, factor)
        let whole = product.rounded(.down)
        let beyondHalf = product - whole - 0.5
        if beyondHalf != 0 || lost == 0 { return product.rounded(.toNearestOrEven) }
        return lost > 0 ? whole + 1 : whole
    }
}
