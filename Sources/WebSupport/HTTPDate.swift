package import FoundationEssentials

/// The date formats of HTTP headers (RFC 9110, 5.6.7).
package enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

    /// Parses a date in any of the three forms that a recipient must accept: `Sun, 06 Nov 1994 08:49:37 GMT`,
    /// `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`. Returns `nil` for anything else.
    ///
    /// The name of the day is ignored: servers get it wrong, and it adds no information.
    ///
    /// - Parameter now: determines the century of a two-digit year.
    package static func date(_ text: some StringProtocol, now: Date = Date()) -> Date? {
        guard text.utf8.count <= 64 else { return nil }
        let words = text.split { $0 == " " || $0 == "," || $0 == "-" }
        switch words.count {
        case 6 where words[5] == "GMT" || words[5] == "UTC":
            guard let year = number(words[3], digits: 2...4), words[3].utf8.count != 3 else { return nil }
            return date(
                year: words[3].utf8.count == 2 ? century(of: year, now: now) : year,
                month: words[2],
                day: words[1],
                time: words[4]
            )
        case 5:
            guard let year = number(words[4], digits: 4...4) else { return nil }
            return date(year: year, month: words[1], day: words[2], time: words[3])
        default:
            return nil
        }
    }

    /// Formats `date` as `Sun, 06 Nov 1994 08:49:37 GMT`, the form that senders must use.
    package static func string(_ date: Date) -> String {
        let seconds = Int(exactly: date.timeIntervalSince1970.rounded(.down)) ?? 0
        let day = (seconds - (seconds % 86_400 + 86_400) % 86_400) / 86_400
        let time = seconds - day * 86_400
        let civil = Civil(day: day)
        let padded = { (value: Int) in value < 10 ? "0\(value)" : "\(value)" }
        let clock = [time / 3600, time / 60 % 60, time % 60].map(padded).joined(separator: ":")
        let weekday = days[((day + 4) % 7 + 7) % 7]
        return "\(weekday), \(padded(civil.day)) \(months[civil.month - 1]) \(civil.year) \(clock) GMT"
    }

    private static func date<Text: StringProtocol>(year: Int, month: Text, day: Text, time: Text) -> Date? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false)
        guard let month = months.firstIndex(where: { $0 == month }).map({ $0 + 1 }),
            let day = number(day, digits: 1...2), clock.count == 3,
            let hours = number(clock[0], digits: 2...2), hours < 24,
            let minutes = number(clock[1], digits: 2...2), minutes < 60,
            // 60 is a leap second.
            let seconds = number(clock[2], digits: 2...2), seconds <= 60
        else { return nil }
        let count = Civil(year: year, month: month, day: day).dayNumber
        let civil = Civil(day: count)
        guard civil.month == month, civil.day == day else { return nil }
        return Date(timeIntervalSince1970: Double(count * 86_400 + hours * 3600 + minutes * 60 + seconds))
    }

    /// Completes a two-digit year. A year that appears to be more than 50 years ahead is in the past (RFC 9110, 5.6.7).
    private static func century(of year: Int, now: Date) -> Int {
        let days = Int(exactly: (now.timeIntervalSince1970 / 86_400).rounded(.down)) ?? 0
        let present = Civil(day: days).year
        let full = present - present % 100 + year
        return full > present + 50 ? full - 100 : full
    }

    private static func number(_ text: some StringProtocol, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }
}

/// A day in the Gregorian calendar, convertible to and from days since 1970-01-01
/// (https://howardhinnant.github.io/date_algorithms.html).
private struct Civil {
    var year: Int
    /// From 1.
    var month: Int
    /// From 1.
    var day: Int

    init(year: Int, month: Int, day: Int) {
        (self.year, self.month, self.day) = (year, month, day)
    }

    init(day number: Int) {
        let shifted = number + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let part = (5 * dayOfYear + 2) / 153
        month = part < 10 ? part + 3 : part - 9
        day = dayOfYear - (153 * part + 2) / 5 + 1
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var dayNumber: Int {
        let year = month <= 2 ? self.year - 1 : self.year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
