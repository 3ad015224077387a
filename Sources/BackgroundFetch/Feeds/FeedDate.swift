import FoundationEssentials
import SystemSupport

/// Parses dates as they occur in feeds.
enum FeedDate {
    /// Returns the date in `text`: RFC 3339 and similar, RFC 822 with its common variations, or the order of asctime.
    ///
    /// Returns `nil` for other texts, and for 1970-01-01T00:00:00Z and earlier: programs write such dates if they know
    /// none.
    static func parse(_ text: String) -> Date? {
        let text = String(text.utf8.prefix(100)) ?? ""
        let date = ISO8601.date(text) ?? withoutSeconds(text) ?? named(text)
        return date.flatMap { $0.timeIntervalSince1970 > 0 ? $0 : nil }
    }

    /// Parses `2026-11-21T06:55Z`, which the W3C profile of ISO 8601 allows.
    private static func withoutSeconds(_ text: String) -> Date? {
        let text = text.trimmingBlanks
        guard text.utf8.count >= 16, !text.utf8.dropFirst(16).starts(with: ":".utf8) else { return nil }
        let time = text.utf8.index(text.startIndex, offsetBy: 16)
        return ISO8601.date(text[..<time] + ":00" + text[time...])
    }

    /// Parses a date with the name of a month. Ignores the name of the day, which is often wrong and in any language.
    private static func named(_ text: String) -> Date? {
        var words = FeedDateWords(text).words[...]
        // The last match, because "mar" is also a day in some languages.
        guard let month = words.lastIndex(where: { Self.month($0) != nil }),
            let number = Self.month(words[month])
        else {
            return nil
        }
        words.removeSubrange(words.startIndex..<max(words.startIndex, month - 1))
        // "21 Nov 2026 06:55", or "Nov 21 06:55 2026" as asctime writes it, with the year in any place.
        var time: String?
        var numbers: [String] = []
        var zone: String?
        for (index, word) in words.enumerated() {
            if index <= 1, Self.month(word) != nil { continue }
            if word.contains(":"), time == nil {
                time = word
            } else if numbers.count < 2, word.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
                numbers.append(word)
            } else if word == "AM" || word == "PM" {
                time = time.flatMap { Self.clock($0, isAfternoon: word == "PM") }
            } else {
                // A zone may have two parts, as in GMT+1.
                zone = (zone ?? "") + word
            }
        }
        guard numbers.count == 2, let day = Int(numbers[0]), (1...31).contains(day),
            let year = Self.year(numbers[1]),
            let clock = Self.clock(time ?? "0:00", isAfternoon: nil),
            let offset = FeedZone.offset(zone ?? "")
        else { return nil }
        return ISO8601.date("\(year)-\(padded(number))-\(padded(day))T\(clock)\(offset)")
    }

    private static let months = [
        "JANUARY", "FEBRUARY", "MARCH", "APRIL", "MAY", "JUNE", "JULY", "AUGUST", "SEPTEMBER",
        "OCTOBER", "NOVEMBER",
        "DECEMBER",
    ]

    private static func month(_ word: String) -> Int? {
        guard word.utf8.count >= 3 else { return nil }
        return months.firstIndex { $0.hasPrefix(word) }.map { $0 + 1 }
    }

    /// Returns a year with four digits (RFC 5322, 4.3): 49 is 2049 and 50 is 1950; three digits count from 1900.
    private static func year(_ word: String) -> String? {
        guard let year = Int(word) else { return nil }
        switch word.utf8.count {
        case 1, 2: return String(year + (year < 50 ? 2000 : 1900))
        case 3: return String(year + 1900)
        case 4: return word
        default: return nil
        }
    }

    /// Returns `h:m`, `h:m:s` or `h:m:s.f` as `hh:mm:ss`. If `isAfternoon` is not `nil`, the hour is on a 12-hour
    /// clock.
    private static func clock(_ text: String, isAfternoon: Bool?) -> String? {
        let parts = text.split(separator: ".", maxSplits: 1)[0].split(
            separator: ":",
            omittingEmptySubsequences: false
        )
        guard (2...3).contains(parts.count), var hour = Int(parts[0]), let minute = Int(parts[1]),
            let second = parts.count == 3 ? Int(parts[2]) : 0, (0..<24).contains(hour),
            (0..<60).contains(minute),
            (0...60).contains(second)
        else { return nil }
        if let isAfternoon { hour = hour % 12 + (isAfternoon ? 12 : 0) }
        return "\(padded(hour)):\(padded(minute)):\(padded(second))"
    }

    private static func padded(_ number: Int) -> String {
        number < 10 ? "0\(number)" : String(number)
    }
}

/// The words of a date in upper case, without comments in parentheses, commas, and the hyphens of `21-Nov-2026`.
private struct FeedDateWords {
    var words: [String] = []

    init(_ text: String) {
        var word = ""
        var commentDepth = 0
        var previous: Unicode.Scalar = " "
        for scalar in text.uppercased().unicodeScalars {
            let isSign =
                scalar == "+" || (scalar == "-" && !previous.properties.isAlphabetic && word.contains(":"))
            switch scalar {
            case "(": commentDepth += 1
            case ")": commentDepth = max(0, commentDepth - 1)
            case _ where commentDepth > 0: break
            case _
            where isSign || (scalar == "-" && (previous == " " || words.last?.contains(":") == true)):
                if !word.isEmpty { words.append(word) }
                word = String(scalar)
            case ",", "-",
                _ where scalar.properties.isWhitespace:
                if !word.isEmpty { words.append(word) }
                word = ""
            default: word.unicodeScalars.append(scalar)
            }
            previous = scalar
        }
        if !word.isEmpty { words.append(word) }
    }
}

/// Time zones in dates of RFC 822, including common names that it does not define.
private enum FeedZone {
    private static let hours: [String: Int] = [
        "EDT": -4, "EST": -5, "CDT": -5, "CST": -6, "MDT": -6, "MST": -7, "PDT": -7, "PST": -8,
        "AKDT": -8, "AKST": -9,
        "HST": -10, "WEST": 1, "BST": 1, "CET": 1, "MEZ": 1, "CEST": 2, "MESZ": 2, "EET": 2, "EEST": 3,
        "MSK": 3,
        "JST": 9,
        "KST": 9, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
    ]

    /// Returns the offset as `±hh:mm`: UTC for an unknown name (RFC 5322, 4.3), `nil` for an impossible number.
    static func offset(_ zone: String) -> String? {
        guard let sign = zone.firstIndex(where: { $0 == "+" || $0 == "-" }) else {
            let hour = hours[zone] ?? 0
            return "\(hour < 0 ? "-" : "+")\(abs(hour) < 10 ? "0" : "")\(abs(hour)):00"
        }
        let digits = zone[sign...].dropFirst().filter { $0 != ":" }
        guard (1...4).contains(digits.utf8.count), let number = Int(digits), number >= 0 else {
            return nil
        }
        let (hour, minute) =
            digits.utf8.count <= 2 ? (number, 0) : number.quotientAndRemainder(dividingBy: 100)
        guard hour <= 14, minute < 60 else { return nil }
        return "\(zone[sign])\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
    }
}
