package import FoundationEssentials

/// The `Retry-After` header: how long a server asks a client to wait (RFC 9110, 10.2.3).
package enum RetryAfter {
    /// The longest wait that is honoured. Tuned: no server may silence this machine for more than a day.
    package static let most = Duration.seconds(86_400)

    /// Returns the wait that a `Retry-After` value asks for, from 0 to ``most``; `nil` for an invalid value.
    ///
    /// - Parameters:
    ///   - text: a number of seconds, or an HTTP date.
    ///   - now: the time that a date is compared with.
    package static func duration(_ text: some StringProtocol, now: Date) -> Duration? {
        let digits = text.utf8.drop { $0 == UInt8(ascii: " ") }
        if let first = digits.first, (0x30...0x39).contains(first) {
            guard let word = text.split(separator: " ").first,
                word.utf8.allSatisfy({ (0x30...0x39).contains($0) })
            else { return nil }
            // Too large for an `Int64`.
            guard let seconds = Int64(word) else { return most }
            return seconds >= 86_400 ? most : .seconds(seconds)
        }
        guard let date = HTTPDate.date(text, now: now) else { return nil }
        let seconds = date.timeIntervalSince(now)
        return seconds > 0 ? min(most, .seconds(seconds)) : .zero
    }
}
