package import FoundationEssentials
import Glibc

/// What the clock on the wall shows: the offset from UTC at each instant.
///
/// FoundationEssentials knows no zones, so the system's is glibc's. Habits live in local time: who opens at 8:30 does so in
/// summer and in winter.
package struct LocalZone: Sendable {
    /// Seconds that the local time is ahead of UTC at an instant.
    package let secondsFromGMT: @Sendable (Date) -> Int

    package init(secondsFromGMT: @escaping @Sendable (Date) -> Int) {
        self.secondsFromGMT = secondsFromGMT
    }

    /// The machine's, as it was when ``reread()`` was last called.
    package static let system = LocalZone { date in
        var seconds = time_t(date.timeIntervalSince1970.clampedToYears)
        var parts = tm()
        return localtime_r(&seconds, &parts) == nil ? 0 : parts.tm_gmtoff
    }

    /// One that never changes.
    package static func fixed(_ seconds: Int) -> LocalZone {
        LocalZone { _ in seconds }
    }

    /// Looks whether the machine was given another zone: `localtime_r` alone never does.
    package static func reread() {
        tzset()
    }

    /// The first instant of the next local day; days of 23 and 25 hours are whole days.
    package func midnight(after date: Date) -> Date {
        let next = Double(LocalTime(date, secondsFromGMT(date)).day + 1) * LocalTime.day
        // The offset of just before midnight may differ from the one of `date`, and from the one of midnight itself.
        let guess = Date(timeIntervalSince1970: next - Double(secondsFromGMT(date)))
        let midnight = Date(timeIntervalSince1970: next - Double(secondsFromGMT(guess)))
        return midnight > date ? midnight : guess
    }

    func local(_ date: Date) -> LocalTime {
        LocalTime(date, secondsFromGMT(date))
    }
}

/// A place in local time.
struct LocalTime: Equatable {
    /// Seconds of a day, and of the 5 minutes that habits are counted in.
    static let day = 86_400.0
    static let slot = 300.0
    static let slotsOfDay = 288

    /// Since 1970-01-01, in local time.
    let day: Int
    /// Of its day, from 0.
    let slot: Int

    init(_ date: Date, _ secondsFromGMT: Int) {
        let seconds = date.timeIntervalSince1970.clampedToYears + Double(secondsFromGMT)
        let day = (seconds / Self.day).rounded(.down)
        self.day = Int(day)
        slot = min(Self.slotsOfDay - 1, Int((seconds - day * Self.day) / Self.slot))
    }

    /// 0 is Sunday; 1970-01-01 was a Thursday.
    static func weekday(ofDay day: Int) -> Int { ((day + 4) % 7 + 7) % 7 }

    /// 0...13, from a Monday on.
    static func dayOfFortnight(_ day: Int) -> Int { ((day + 3) % 14 + 14) % 14 }

    /// `08:30`, when the slot begins.
    var clock: String {
        let padded = { (value: Int) in value < 10 ? "0\(value)" : "\(value)" }
        return "\(padded(slot * 5 / 60)):\(padded(slot * 5 % 60))"
    }
}

extension Double {
    /// What a civil calendar can tell; 0 for what is no number.
    fileprivate var clampedToYears: Double {
        isFinite ? Swift.min(Swift.max(self, -6.2e10), 2.5e11) : 0
    }
}
