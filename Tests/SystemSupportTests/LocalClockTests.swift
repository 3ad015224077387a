import Foundation
import SystemSupport
import Testing

/// `make test` runs this suite in a process of its own, as the time zone belongs to the whole process.
@Suite(.serialized) struct LocalClockTests {
    /// In Havana and Beirut summer time begins at midnight, so a day begins at 1:00; in Havana it also ends there.
    @Test(arguments: ["UTC", "Europe/Berlin", "America/Havana", "Asia/Beirut", "Australia/Lord_Howe", "Asia/Kathmandu"])
    func `offsets and midnights of a year are those of Foundation's calendar`(zone: String) throws {
        let previous = ProcessInfo.processInfo.environment["TZ"]
        setenv("TZ", zone, 1)
        tzset()
        defer {
            if let previous { setenv("TZ", previous, 1) } else { unsetenv("TZ") }
            tzset()
        }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: zone))
        for hour in stride(from: 0.0, to: 366 * 24, by: 2.9) {
            let date = Date(timeIntervalSince1970: 1_767_225_600 + hour * 3600)
            let midnight = calendar.startOfDay(for: date)
            #expect(LocalClock.offset(at: date) == calendar.timeZone.secondsFromGMT(for: date), "\(date)")
            #expect(LocalClock.midnight(of: date) == midnight, "\(date)")
            // Half a day before midnight is the day before, whether it has 23, 24 or 25 hours.
            let before = calendar.startOfDay(for: midnight.addingTimeInterval(-43_200))
            #expect(LocalClock.midnight(of: date, daysBefore: 1) == before, "\(date)")
        }
    }
}
