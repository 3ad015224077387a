import FoundationEssentials
import SystemSupport

extension Double {
    /// A length such as `5 m`, `4.75 m` or `1200 m`.
    var metres: String {
        let text = decimals(self < 100 ? 2 : 0)
        guard text.contains(".") else { return text + " m" }
        return String(text.reversed().drop { $0 == "0" }.drop { $0 == "." }.reversed()) + " m"
    }
}

extension Int64 {
    /// A size such as `482 bytes`, `1.2 kB` or `34.5 MB`.
    var inBytes: String {
        guard self >= 1000 else { return self == 1 ? "1 byte" : "\(self) bytes" }
        var value = Double(self) / 1000
        for unit in ["kB", "MB", "GB"] {
            // A value that would round to 1000.0 goes to the next unit.
            if value < 999.95 { return "\(value.decimals(1)) \(unit)" }
            value /= 1000
        }
        return "\(value.decimals(1)) TB"
    }
}

extension Date {
    /// The time, such as `06:55`, local on a terminal and else in UTC; with the month and the day if it is not on the day
    /// of `now`.
    func clock(on now: Date) -> String {
        let format = StandardOutput.isTerminal ? \Date.localText : \Date.utcText
        let (text, today) = (self[keyPath: format], now[keyPath: format].prefix(10))
        let time = text.dropFirst(11).prefix(5)
        return text.prefix(10) == today ? String(time) : "\(text.dropFirst(5).prefix(5)) \(time)"
    }
}

extension Date {
    fileprivate var utcText: String { ISO8601.string(self) }
}

extension [String] {
    /// The strings as lines, with control characters replaced so that outside data cannot break a line.
    var printable: String { map(\.withoutControlCharacters).joined(separator: "\n") }
}
