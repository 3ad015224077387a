package import FoundationEssentials
import SystemSupport

/// The hours of each local day in which a rule may fire, such as `05:00-23:00`.
///
/// The start belongs to the hours, the end does not. An end that is earlier than the start is on the next day.
package struct DailyHours: Hashable, Sendable, CustomStringConvertible {
    /// Minutes after midnight; the end is at most 24:00.
    private let start: Int
    private let end: Int

    /// Parses `HH:MM-HH:MM`; returns `nil` for anything else, and if start and end are the same.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { Self.minutes(String($0)) }
        guard parts.count == 2, let start = parts[0], let end = parts[1], start < 1440, start != end else { return nil }
        (self.start, self.end) = (start, end)
    }

    /// Such as `05:00-23:00`.
    package var description: String { "\(ClockText.text(minutes: start))-\(ClockText.text(minutes: end))" }

    /// Returns whether the hours contain a date, where local time is ahead of UTC by `utcOffset` seconds.
    package func contains(_ date: Date, utcOffset: Int) -> Bool {
        let minute = ClockText.minuteOfDay(date, utcOffset: utcOffset)
        return start < end ? start <= minute && minute < end : start <= minute || minute < end
    }

    private static func minutes(_ text: String) -> Int? {
        let bytes = Array(text.utf8)
        guard bytes.count == 5, bytes[2] == UInt8(ascii: ":") else { return nil }
        let digits = [bytes[0], bytes[1], bytes[3], bytes[4]].map { Int($0) - 0x30 }
        guard digits.allSatisfy((0...9).contains) else { return nil }
        let (hour, minute) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
        return minute < 60 && hour * 60 + minute <= 1440 ? hour * 60 + minute : nil
    }
}

/// Local times of the day as `HH:MM`, for a given offset from UTC.
enum ClockText {
    /// Returns the whole minutes since local midnight, 0 to 1439. The date may be any.
    static func minuteOfDay(_ date: Date, utcOffset: Int) -> Int {
        let seconds = localSeconds(date, utcOffset: utcOffset)
        return Int((seconds - 86_400 * (seconds / 86_400).rounded(.down)) / 60) % 1440
    }

    /// Returns the number of the local day. The date may be any.
    static func day(_ date: Date, utcOffset: Int) -> Double {
        (localSeconds(date, utcOffset: utcOffset) / 86_400).rounded(.down)
    }

    static func text(minutes: Int) -> String {
        let (hour, minute) = (minutes / 60, minutes % 60)
        return "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
    }

    private static func localSeconds(_ date: Date, utcOffset: Int) -> Double {
        date.timeIntervalSince1970.clampedToYears + Double(utcOffset)
    }
}
