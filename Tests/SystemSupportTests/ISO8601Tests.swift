import FoundationEssentials
import SystemSupport
import TestSupport
import Testing

@Suite(.computing) struct ISO8601Tests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_419_221_113, "2014-12-22T04:05:13.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.000Z"),
            (-62_167_219_200, "0000-01-01T00:00:00.000Z"),
            (253_402_300_799, "9999-12-31T23:59:59.000Z"),
            (1e300, "9999-12-31T23:59:59.999Z"),
            (-1e300, "0000-01-01T00:00:00.000Z"),
        ] as [(Double, String)]
    )
    func `a time is written in UTC with milliseconds, clamped to years of four digits`(seconds: Double, text: String) {
        #expect(ISO8601.string(Date(timeIntervalSince1970: seconds)) == text)
    }

    @Test func `milliseconds are rounded, even across the end of a year`() {
        #expect(ISO8601.string(Date(timeIntervalSince1970: 0.0006)) == "1970-01-01T00:00:00.001Z")
        #expect(ISO8601.string(Date(timeIntervalSince1970: 0.0004)) == "1970-01-01T00:00:00.000Z")
        #expect(ISO8601.string(Date(timeIntervalSince1970: -0.0006)) == "1969-12-31T23:59:59.999Z")
        #expect(ISO8601.string(Date(timeIntervalSince1970: 1_767_225_599.9996)) == "2026-01-01T00:00:00.000Z")
        #expect(ISO8601.string(Date(timeIntervalSince1970: 1_763_708_149.786)) == "2025-11-21T06:55:49.786Z")
    }

    @Test(arguments: [
        "2014-12-22T04:05:13Z", "2014-12-22T04:05:13", "2014-12-22 04:05:13", "2014-12-22t04:05:13z",
        " \t2014-12-22T04:05:13Z\r\n", "2014-12-22T04:05:13.0000000000000Z", "2014-12-22T04:05:13,000Z",
        "2014-12-22T06:05:13+02:00", "2014-12-22T06:05:13+0200", "2014-12-22T06:05:13+02", "2014-12-21T18:35:13-09:30",
        "2014-12-23T03:05:13+23:00", "2014-12-22T04:05:13-00:00",
    ])
    func `every form of a timestamp parses to the same time`(text: String) {
        #expect(ISO8601.date(text) == Date(timeIntervalSince1970: 1_419_221_113))
    }

    @Test(arguments: [
        "", " ", "2014", "2014-12", "14-12-22", "2014-13-01", "2014-00-01", "2014-12-00", "2014-12-32", "2014-02-29",
        "1900-02-29", "2014-12-22T", "2014-12-22T04", "2014-12-22T04:05", "2014-12-22T24:00:00Z",
        "2014-12-22T04:60:00Z",
        "2014-12-22T04:05:61Z", "2014-12-22T04:05:13.Z", "2014-12-22T04:05:13+", "2014-12-22T04:05:13+2",
        "2014-12-22T04:05:13+24:00",
        "2014-12-22T04:05:13+02:60", "2014-12-22T04:05:13+02:", "2014-12-22T04:05:13ZZ", "2014-12-22T04:05:13Z x",
        "x2014-12-22",
        "20141222T040513Z", "2014/12/22", "٢٠١٤-12-22", "2014-12-22\u{0}x", "-014-12-22", "12014-12-22",
    ])
    func `an invalid timestamp is rejected`(text: String) {
        #expect(ISO8601.date(text) == nil)
    }

    @Test func `a date without a time means its midnight`() {
        #expect(ISO8601.date("2014-12-22") == ISO8601.date("2014-12-22T00:00:00Z"))
        #expect(ISO8601.date(" 2014-12-22 ") == ISO8601.date("2014-12-22T00:00:00Z"))
        #expect(ISO8601.date("2000-02-29") != nil)
    }

    @Test func `a leap second is read as the second after it`() {
        #expect(ISO8601.date("2016-12-31T23:59:60Z") == ISO8601.date("2017-01-01T00:00:00Z"))
        #expect(ISO8601.date("2016-12-31T23:59:60.5Z") == ISO8601.date("2017-01-01T00:00:00.5Z"))
    }

    @Test(arguments: [
        (".1", 100), (".12", 120), (".123", 123), (".1234", 123), (".1235", 124), (".12349999999999", 123),
        (".9996", 1000),
        (".999499999999999999999999999999", 999), (".0004", 0), (".0005", 1),
    ])
    func `digits after the milliseconds are rounded`(fraction: String, milliseconds: Double) {
        let date = ISO8601.date("1970-01-01T00:00:00\(fraction)Z")
        #expect(date == Date(timeIntervalSince1970: milliseconds / 1000))
    }

    @Test func `10,000 random timestamps of all years survive a round trip`() throws {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<10_000 {
            let milliseconds = Int64.random(in: -62_167_219_200_000...253_402_300_799_999, using: &generator)
            let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            let text = ISO8601.string(date)
            let read = try #require(ISO8601.date(text))
            #expect(Int64((read.timeIntervalSince1970 * 1000).rounded()) == milliseconds, "\(text)")
            #expect(ISO8601.string(read) == text)
        }
    }

    @Test func `each day of four centuries begins 24 hours after the previous one`() throws {
        var previous = try #require(ISO8601.date("1999-12-31"))
        for year in 2000..<2400 {
            for month in 1...12 {
                for day in 1...31 {
                    let pad = { (value: Int) in value < 10 ? "0\(value)" : "\(value)" }
                    let text = "\(year)-\(pad(month))-\(pad(day))"
                    guard let date = ISO8601.date(text) else { continue }
                    #expect(date.timeIntervalSince(previous) == 86_400, "\(text)")
                    #expect(ISO8601.string(date) == text + "T00:00:00.000Z")
                    previous = date
                }
            }
        }
        #expect(ISO8601.string(previous) == "2399-12-31T00:00:00.000Z")
    }
}
