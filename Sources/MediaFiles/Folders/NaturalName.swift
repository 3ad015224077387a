/// A name in natural order: "2 b" before "10 a". A and a, or 7 and 007, differ only if everything else is equal.
///
/// The sort key is computed once per name, because sorting 100,000 names takes two million comparisons.
package struct NaturalName: Comparable {
    package let name: String
    /// The sort key: the name in lower case, with each number as "0", its number of digits, and the digits. Strings compare
    /// by canonical equivalence, so both spellings of é are equal.
    private let key: String

    /// Creates the natural order of `name`.
    package init(_ name: String) {
        self.name = name
        var key: [UInt8] = []
        var digits: [UInt8] = []
        var isNumber = false
        key.reserveCapacity(name.utf8.count + 8)
        for byte in name.lowercased().utf8 {
            if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
                isNumber = true
                // Skip leading zeros.
                if !digits.isEmpty || byte != UInt8(ascii: "0") { digits.append(byte) }
            } else {
                if isNumber { Self.append(&digits, to: &key) }
                isNumber = false
                key.append(byte)
            }
        }
        if isNumber { Self.append(&digits, to: &key) }
        self.key = String(decoding: key, as: UTF8.self)
    }

    /// Returns whether `left` comes before `right`.
    package static func < (left: NaturalName, right: NaturalName) -> Bool {
        left.key != right.key ? left.key < right.key : left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }

    /// A file name has at most 255 bytes; `~` stands for 90 digits.
    private static func append(_ digits: inout [UInt8], to key: inout [UInt8]) {
        key.append(UInt8(ascii: "0"))
        key.append(contentsOf: repeatElement(UInt8(ascii: "~"), count: digits.count / 90))
        key.append(UInt8(ascii: "!") + UInt8(digits.count % 90))
        key.append(contentsOf: digits)
        digits.removeAll(keepingCapacity: true)
    }
}
