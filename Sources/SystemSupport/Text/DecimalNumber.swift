/// Parses numbers in the notation of XML Schema from bytes: no locale, hexadecimal, infinity or trailing text.
package enum DecimalNumber {
    /// Returns the number in `bytes`, which may be surrounded by white space; `nil` if there is none or it is not finite.
    package static func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> Double? {
        var start = 0
        var end = bytes.count
        while start < end, bytes[start] <= 0x20 { start += 1 }
        while end > start, bytes[end - 1] <= 0x20 { end -= 1 }
        let number = UnsafeBufferPointer(rebasing: bytes[start..<end])
        guard !number.isEmpty else { return nil }
        return exact(number) ?? general(number)
    }

    /// Parses the common case. Up to 15 digits and powers of ten below 23 are exact doubles, so one division rounds correctly.
    private static func exact(_ bytes: UnsafeBufferPointer<UInt8>) -> Double? {
        var position = 0
        let isNegative = bytes[0] == UInt8(ascii: "-")
        if isNegative || bytes[0] == UInt8(ascii: "+") { position = 1 }
        var mantissa: Int64 = 0
        var digits = 0
        var fraction: Int?
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "."), fraction == nil {
                fraction = 0
            } else if (0x30...0x39).contains(byte) {
                guard digits < 15 else { return nil }
                mantissa = mantissa * 10 + Int64(byte - 0x30)
                digits += 1
                if let count = fraction { fraction = count + 1 }
            } else {
                return nil
            }
            position += 1
        }
        guard digits > 0 else { return nil }
        let value = Double(mantissa) / powersOfTen[fraction ?? 0]
        return isNegative ? -value : value
    }

    private static func general(_ bytes: UnsafeBufferPointer<UInt8>) -> Double? {
        let isDecimal = bytes.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "e"),
                UInt8(ascii: "E"):
                true
            default: false
            }
        }
        guard isDecimal else { return nil }
        guard let number = Double(String(decoding: bytes, as: UTF8.self)), number.isFinite else { return nil }
        return number
    }

    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]
}
