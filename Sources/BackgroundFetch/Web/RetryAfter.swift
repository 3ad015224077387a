package import FoundationEssentials

/// How long a server wants to be left alone (RFC 9110, 10.2.3).
package enum RetryAfter {
    /// judgement: no server may silence this machine for longer
    package static let most = Duration.seconds(86_400)

    /// The value of `Retry-After`: seconds, or a time, which is compared with `now`. From 0 to ``most``; `nil` for what is neither.
    package static func duration(_ text: some StringProtocol, now: Date) -> Duration? {
        let digits = text.utf8.drop { $0 == UInt8(ascii: " ") }
        if let first = digits.first, (0x30...0x39).contains(first) {
            guard let word = text.split(separator: " ").first,
                word.utf8.allSatisfy({ (0x30...0x39).contains($0) })
            else { return nil }
            // What does not fit is long.
            guard let seconds = Int64(word) else { return most }
            return seconds >= 86_400 ? most : .seconds(seconds)
        }
        guard let date = HTTPDate.date(text, now: now) else { return nil }
        let seconds = date.timeIntervalSince(now)
        return seconds > 0 ? min(most, .seconds(seconds)) : .zero
    }
}
