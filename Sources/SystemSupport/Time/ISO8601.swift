package import FoundationEssentials

/// Formats times as ISO 8601 in UTC with milliseconds, and parses RFC 3339 with its common relaxations.
///
/// Foundation's `ISO8601FormatStyle` truncates the milliseconds and is too slow for files of a million points.
///
///     ISO8601.string(Date(timeIntervalSince1970: 0))   // 1970-01-01T00:00:00.000Z
package enum ISO8601 {
    /// Returns `date` rounded to milliseconds. Years outside 0...9999 are clamped, so the result always has 24 characters.
    package static func string(_ date: Date) -> String {
        var buffer = TextBuffer()
        buffer.append(date)
        return buffer.string
    }

    /// Calls `append` with each number of ``string(_:)``, its number of digits and the character that follows.
    fileprivate static func write(_ date: Date, _ append: (_ number: UInt64, _ width: Int, _ separator: UInt8) -> Void)
    {
        let limits = -62_167_219_200_000.0...253_402_300_799_999.0
        let seconds = date.timeIntervalSince1970 * 1000
        let milliseconds =
            seconds.isFinite ? Int64(min(max(seconds.rounded(), limits.lowerBound), limits.upperBound)) : 0
        let (days, remainder) = milliseconds.flooredDivision(by: 86_400_000)
        let (year, month, day) = civil(days: days)
        append(UInt64(year), 4, UInt8(ascii: "-"))
        append(UInt64(month), 2, UInt8(ascii: "-"))
        append(UInt64(day), 2, UInt8(ascii: "T"))
        append(UInt64(remainder / 3_600_000), 2, UInt8(ascii: ":"))
        append(UInt64(remainder / 60_000 % 60), 2, UInt8(ascii: ":"))
        append(UInt64(remainder / 1000 % 60), 2, UInt8(ascii: "."))
        append(UInt64(remainder % 1000), 3, UInt8(ascii: "Z"))
    }

    /// Parses a time, rounded to milliseconds; returns `nil` if it is invalid.
    ///
    /// Accepts `2014-12-22T04:05:13` with any number of fraction digits, `Z`, `±hh:mm`, `±hhmm`, `±hh` or no zone (UTC), a blank
    /// instead of the `T`, a date alone, and surrounding white space. A leap second is parsed as the following second.
    package static func date(_ text: some StringProtocol) -> Date? {
        var copy = String(text)
        return copy.withUTF8 { date(utf8: $0) }
    }

    /// Like ``date(_:)``, for bytes, without copying.
    package static func date(utf8 bytes: UnsafeBufferPointer<UInt8>) -> Date? {
        var scanner = Scanner(bytes: bytes)
        scanner.skipBlanks()
        guard let year = scanner.digits(4), scanner.skip("-"), let month = scanner.digits(2), scanner.skip("-"),
            let day = scanner.digits(2), (1...12).contains(month), day >= 1, day <= daysIn(month, of: year)
        else { return nil }
        var milliseconds: Int64 = 0
        let hasTime = scanner.skip("T") || scanner.skip("t")
        if hasTime || (scanner.skip(" ") && scanner.hasDigit) {
            guard let hour = scanner.digits(2), scanner.skip(":"), let minute = scanner.digits(2), scanner.skip(":"),
                let second = scanner.digits(2), hour < 24, minute < 60, second <= 60
            else { return nil }
            milliseconds = (hour * 3600 + minute * 60 + second) * 1000
            if scanner.skip(".") || scanner.skip(",") {
                guard let fraction = scanner.fraction() else { return nil }
                milliseconds += fraction
            }
            guard let offset = scanner.offset() else { return nil }
            milliseconds -= offset
        }
        scanner.skipBlanks()
        guard scanner.isAtEnd else { return nil }
        let total = days(year: year, month: month, day: day) * 86_400_000 + milliseconds
        return Date(timeIntervalSince1970: Double(total) / 1000)
    }

    // The conversions between a civil date and a count of days are Howard Hinnant's `days_from_civil` and
    // `civil_from_days` (https://howardhinnant.github.io/date_algorithms.html), for years from 0 on.

    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = year.flooredDivision(by: 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    private static func daysIn(_ month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension TextBuffer {
    /// Appends ``ISO8601/string(_:)``.
    package mutating func append(_ date: Date) {
        ISO8601.write(date) { append($0, width: $1, then: $2) }
    }
}

extension Int64 {
    fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

private struct Scanner {
    let bytes: UnsafeBufferPointer<UInt8>
    var position = 0

    init(bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }
    var hasDigit: Bool { position < bytes.count && (0x30...0x39).contains(bytes[position]) }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, UInt32(bytes[position]) == character.value else { return false }
        position += 1
        return true
    }

    mutating func skipBlanks() {
        while position < bytes.count, bytes[position] <= 0x20 { position += 1 }
    }

    mutating func digits(_ count: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<count {
            guard hasDigit else { return nil }
            value = value * 10 + Int64(bytes[position] - 0x30)
            position += 1
        }
        return value
    }

    /// Parses a fraction as milliseconds; the fourth digit rounds.
    mutating func fraction() -> Int64? {
        guard hasDigit else { return nil }
        var value: Int64 = 0
        var scale: Int64 = 1000
        while hasDigit {
            let digit = Int64(bytes[position] - 0x30)
            if scale > 1 {
                value = value * 10 + digit
                scale /= 10
            } else if scale == 1 {
                if digit >= 5 { value += 1 }
                scale = 0
            }
            position += 1
        }
        return value * max(scale, 1)
    }

    /// Parses a zone as milliseconds east of UTC.
    mutating func offset() -> Int64? {
        if skip("Z") || skip("z") { return 0 }
        let isWest = skip("-")
        guard isWest || skip("+") else { return 0 }
        guard let hours = digits(2), hours < 24 else { return nil }
        let minutes = skip(":") || hasDigit ? digits(2) : 0
        guard let minutes, minutes < 60 else { return nil }
        return (isWest ? -1 : 1) * (hours * 60 + minutes) * 60_000
    }
}
