package import FoundationEssentials
import Glibc

/// The local time of this machine, from localtime(3). Any thread.
///
/// Foundation's `Calendar` knows time zones only together with ICU, which adds 40 MB to a program.
package enum LocalClock {
    /// Returns by how many seconds local time is ahead of UTC at `date`.
    package static func offset(at date: Date) -> Int {
        parts(of: date).tm_gmtoff
    }

    /// Returns the first moment of the local day of `date`, or of the day that is `days` earlier.
    package static func midnight(of date: Date, daysBefore days: Int32 = 0) -> Date {
        var day = parts(of: date)
        (day.tm_hour, day.tm_min, day.tm_sec) = (0, 0, 0)
        day.tm_mday -= days
        // mktime(3) determines whether summer time applies.
        day.tm_isdst = -1
        let midnight = Date(timeIntervalSince1970: TimeInterval(mktime(&day)))
        // Where summer time ends at midnight, the first hour comes twice.
        let hourBefore = midnight.addingTimeInterval(-3600)
        return parts(of: hourBefore).tm_mday == day.tm_mday ? hourBefore : midnight
    }

    private static func parts(of date: Date) -> tm {
        var seconds = time_t(date.timeIntervalSince1970.clampedToYears)
        var parts = tm()
        localtime_r(&seconds, &parts)
        return parts
    }
}

extension Double {
    /// The number of seconds, limited to years that calendar functions can represent; 0 if it is not finite.
    package var clampedToYears: Double {
        isFinite ? Swift.min(Swift.max(self, -6.2e10), 2.5e11) : 0
    }
}
