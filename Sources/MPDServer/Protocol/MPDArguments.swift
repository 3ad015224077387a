/// The arguments of a command, with conversions that throw errors in MPD's words.
struct MPDArguments: Sendable {
    let values: [String]

    init(_ values: [String]) {
        self.values = values
    }

    var count: Int { values.count }

    subscript(index: Int) -> String { values[index] }

    /// Returns the text at `index`; `nil` if there are fewer arguments.
    func optional(_ index: Int) -> String? { index < values.count ? values[index] : nil }

    /// Returns the integer at `index`. Throws "Number too large" if it is outside of `range`.
    func integer(_ index: Int, in range: ClosedRange<Int> = MPDNumber.signed) throws(MPDError) -> Int {
        try MPDNumber.integer(values[index], in: range)
    }

    func boolean(_ index: Int) throws(MPDError) -> Bool {
        switch values[index].trimmingPrefixBlanks {
        case "0": return false
        case "1": return true
        default: throw MPDError(.argument, "Boolean (0/1) expected: \(values[index])")
        }
    }

    func float(_ index: Int) throws(MPDError) -> Double { try MPDNumber.float(values[index]) }

    /// Returns the argument at `index` as a time in seconds, which must not be negative.
    func time(_ index: Int) throws(MPDError) -> Double {
        let seconds = try float(index)
        guard seconds >= 0 else { throw MPDError(.argument, "Negative value not allowed: \(values[index])") }
        return seconds
    }

    func range(_ index: Int) throws(MPDError) -> MPDRange { try MPDRange(values[index]) }

    /// Returns the arguments after the first `count`.
    func dropFirst(_ count: Int) -> [String] { Array(values.dropFirst(count)) }
}

enum MPDNumber {
    static let signed = Int(Int32.min)...Int(Int32.max)
    static let unsigned = 0...Int(Int32.max)

    static func integer(_ text: String, in range: ClosedRange<Int>) throws(MPDError) -> Int {
        let digits = text.trimmingPrefixBlanks
        let isNumber = digits.drop { $0 == "-" || $0 == "+" }.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard let value = Int(digits) else {
            guard isNumber, digits.utf8.count > 1 else { throw MPDError(.argument, "Integer expected: \(text)") }
            throw MPDError(.argument, "Number too large: \(text)")
        }
        guard range.contains(value) else { throw MPDError(.argument, "Number too large: \(text)") }
        return value
    }

    static func float(_ text: String) throws(MPDError) -> Double {
        guard let value = Double(text.trimmingPrefixBlanks) else {
            throw MPDError(.argument, "Float expected: \(text)")
        }
        return value
    }
}

/// A range of positions: `START:END` without the end itself, `START:`, a single position, or -1 for all.
struct MPDRange: Hashable, Sendable {
    var start: Int
    /// The position after the last one; `nil` for an open end.
    var end: Int?

    static let all = MPDRange(start: 0, end: nil)

    init(start: Int, end: Int?) {
        self.start = start
        self.end = end
    }

    init(_ text: String) throws(MPDError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        do throws(MPDError) {
            if parts.count == 1, try MPDNumber.integer(parts[0], in: MPDNumber.signed) == -1 {
                self = .all
                return
            }
            start = try MPDNumber.integer(parts[0], in: MPDNumber.unsigned)
            if parts.count == 1 {
                end = start + 1
            } else {
                end = parts[1].isEmpty ? nil : try MPDNumber.integer(parts[1], in: MPDNumber.unsigned)
            }
        } catch {
            guard error.text.hasPrefix("Integer") else { throw error }
            throw MPDError(.argument, "Integer or range expected: \(text)")
        }
        if let end, end < start { throw MPDError(.argument, "Malformed range: \(text)") }
    }

    /// Returns the part of the range within `count` items. Throws "Bad song index" if it begins after their end.
    func clipped(to count: Int) throws(MPDError) -> Range<Int> {
        guard start <= count else { throw .badSongIndex }
        return start..<max(start, min(end ?? count, count))
    }
}

extension String {
    /// The text without leading blanks, which strtol(3) skips too.
    fileprivate var trimmingPrefixBlanks: String { String(drop { $0 == " " || $0 == "\t" }) }
}
