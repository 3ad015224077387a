package import FoundationEssentials
import Glibc
import SystemSupport

/// A time zone: the offset from UTC at each date.
///
/// Habits follow local time: a user who opens at 8:30 does so in summer and in winter.
package struct LocalZone: Sendable {
    /// Returns by how many seconds local time is ahead of UTC at a date.
    package let secondsFromGMT: @Sendable (Date) -> Int

    /// Creates a zone with the offset that `secondsFromGMT` returns for each date.
    package init(secondsFromGMT: @escaping @Sendable (Date) -> Int) {
        self.secondsFromGMT = secondsFromGMT
    }

    /// The zone of the machine at the last call of ``reread()``.
    package static let system = LocalZone { LocalClock.offset(at: $0) }

    /// Returns a zone with a constant offset in seconds.
    package static func fixed(_ seconds: Int) -> LocalZone {
        LocalZone { _ in seconds }
    }

    /// Reads the time zone of the machine again, which `localtime_r` does not do.
    package static func reread() {
        tzset()
    }

    /// Returns the start of the next local day, also for days of 23 or 25 hours.
    package func midnight(after date: Date) -> Date {
        let next = Double(LocalTime(date, secondsFromGMT(date)).day + 1) * LocalTime.day
        // The offset may change between `date` and midnight, or at midnight.
        let guess = Date(timeIntervalSince1970: next - Double(secondsFromGMT(date)))
        let midnight = Date(timeIntervalSince1970: next - Double(secondsFromGMT(guess)))
        return midnight > date ? midnight : guess
    }

    /// Returns the local day and slot at `date`.
    func local(_ date: Date) -> LocalTime {
        LocalTime(date, secondsFromGMT(date))
    }
}

/// A slot of 5 minutes in local time.
struct LocalTime: Equatable {
    /// Seconds of a day.
    static let day = 86_400.0
    /// Seconds of a slot, the resolution of habits and plans.
    static let slot = 300.0
    static let slotsOfDay = 288

    /// Local days since 1970-01-01.
    let day: Int
    /// The slot of the day, from 0.
    let slot: Int

    init(_ date: Date, _ secondsFromGMT: Int) {
        let seconds = date.timeIntervalSince1970.clampedToYears + Double(secondsFromGMT)
        let day = (seconds / Self.day).rounded(.down)
        self.day = Int(day)
        slot = min(Self.slotsOfDay - 1, Int((seconds - day * Self.day) / Self.slot))
    }

    /// Returns the weekday of `day`, from 0 for Sunday; 1970-01-01 was a Thursday.
    static func weekday(ofDay day: Int) -> Int { ((day + 4) % 7 + 7) % 7 }

    /// Returns the day of a fortnight, from 0 for a Monday to 13.
    static func dayOfFortnight(_ day: Int) -> Int { ((day + 3) % 14 + 14) % 14 }

    /// The start of the slot, such as `08:30`.
    var clock: String {
        let padded = { (value: Int) in value < 10 ? "0\(value)" : "\(value)" }
        return "\(padded(slot * 5 / 60)):\(padded(slot * 5 % 60))"
    }
}
