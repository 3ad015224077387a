import Foundation
import Places
import Testing

@Suite struct DailyHoursTests {
    /// 2027-01-15T00:00:00Z.
    private static func date(_ hour: Int, _ minute: Int = 0, second: Double = 0) -> Date {
        Date(timeIntervalSince1970: 1_799_971_200 + Double(hour * 3600 + minute * 60) + second)
    }

    @Test(arguments: ["05:00-23:00", "22:30-04:15", "00:00-24:00", "18:00-00:00", "00:00-00:01"])
    func `hours are written as they are read`(text: String) throws {
        #expect(try #require(DailyHours(text)).description == text)
    }

    @Test(
        arguments: [
            "", "-", "05:00", "05:00-", "-05:00", "5:00-23:00", "05:00-23:00-", "05:00 - 23:00", "05:00–23:00",
            "05.00-23.00", "05:60-23:00", "25:00-26:00", "24:00-05:00", "00:00-24:01", "05:00-05:00", "0500-2300",
            "+5:00-23:00", "05:0a-23:00", "٠٥:00-23:00",
        ]
    )
    func `anything else is refused`(text: String) { #expect(DailyHours(text) == nil) }

    @Test func `the start belongs to the hours, the end does not`() throws {
        let hours = try #require(DailyHours("05:00-23:00"))
        #expect(!hours.contains(Self.date(4, 59, second: 59.999), utcOffset: 0))
        #expect(hours.contains(Self.date(5), utcOffset: 0))
        #expect(hours.contains(Self.date(22, 59, second: 59.999), utcOffset: 0))
        #expect(!hours.contains(Self.date(23), utcOffset: 0))
    }

    @Test func `an end before the start is on the next day`() throws {
        let hours = try #require(DailyHours("22:30-04:15"))
        #expect(!hours.contains(Self.date(22, 29), utcOffset: 0))
        #expect(hours.contains(Self.date(22, 30), utcOffset: 0))
        #expect(hours.contains(Self.date(0), utcOffset: 0))
        #expect(hours.contains(Self.date(4, 14), utcOffset: 0))
        #expect(!hours.contains(Self.date(4, 15), utcOffset: 0))
    }

    @Test(arguments: [0, 86_399])
    func `a whole day contains each time`(second: Int) throws {
        #expect(try #require(DailyHours("00:00-24:00")).contains(Self.date(0, second: Double(second)), utcOffset: 0))
        let evening = try #require(DailyHours("18:00-00:00"))
        #expect(evening.contains(Self.date(0, second: Double(second)), utcOffset: 0) == (second > 0))
    }

    @Test func `hours are in local time, also where its day is another`() throws {
        let hours = try #require(DailyHours("05:00-06:00"))
        #expect(hours.contains(Self.date(0), utcOffset: 5 * 3600 + 1800))
        #expect(hours.contains(Self.date(17), utcOffset: -12 * 3600))
        #expect(hours.contains(Self.date(16), utcOffset: 13 * 3600))
        #expect(!hours.contains(Self.date(5), utcOffset: 3600))
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300])
    func `any date has a time of the day`(seconds: Double) throws {
        let hours = try #require(DailyHours("00:00-24:00"))
        #expect(hours.contains(Date(timeIntervalSince1970: seconds), utcOffset: -3600))
    }

    @Test func `dates before 1970 have a time of the day`() throws {
        let hours = try #require(DailyHours("23:00-24:00"))
        #expect(hours.contains(Date(timeIntervalSince1970: -1), utcOffset: 0))
        #expect(!hours.contains(Date(timeIntervalSince1970: -3601), utcOffset: 0))
    }
}
