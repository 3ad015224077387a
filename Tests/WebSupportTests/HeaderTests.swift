import Foundation
import Testing

@testable import WebSupport

/// Header values of servers in all allowed forms and in some invalid ones.
@Suite struct HeaderTests {
    private static let now = Date(timeIntervalSince1970: 1_763_708_149)

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777.0), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Sat, 29 Feb 2020 23:59:60 GMT", 1_583_020_800), ("Wednesday, 01-Jan-75 00:00:00 GMT", 3_313_526_400),
        ("Friday, 01-Jan-77 00:00:00 GMT", 220_924_800), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
    ])
    func `the three HTTP date formats are read`(text: String, seconds: Double) {
        #expect(HTTPDate.date(text, now: Self.now) == Date(timeIntervalSince1970: seconds))
    }

    @Test(arguments: [
        "", "0", "-1", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 06 Nov 199 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 XXX 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", String(repeating: "9", count: 100_000),
    ])
    func `an invalid HTTP date is ignored`(text: String) {
        #expect(HTTPDate.date(text, now: Self.now) == nil)
    }

    @Test func `a written HTTP date is read back as the same date`() {
        for seconds in stride(from: -3e9, through: 2e11, by: 86_399_999) {
            let date = Date(timeIntervalSince1970: seconds)
            #expect(HTTPDate.date(HTTPDate.string(date), now: Self.now) == date)
        }
        #expect(HTTPDate.string(Date(timeIntervalSince1970: 784_111_777)) == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test(
        arguments: [
            ("120", Duration.seconds(120)), ("0", .zero), (" 7 ", .seconds(7)),
            ("99999999999999999999999", .seconds(86_400)),
            ("Fri, 21 Nov 2025 06:56:49 GMT", .seconds(60)), ("Sun, 06 Nov 1994 08:49:37 GMT", .zero),
            ("Fri, 31 Dec 9999 23:59:59 GMT", .seconds(86_400)), ("-5", nil), ("soon", nil), ("", nil), ("1.5", nil),
        ] as [(String, Duration?)]
    )
    func `Retry-After is a number of seconds or a date, and at most a day`(text: String, expected: Duration?) {
        #expect(RetryAfter.duration(text, now: Self.now) == expected)
    }

    @Test(
        arguments: [
            (["max-age=60"], nil, nil, .seconds(60)), (["public, Max-Age = \"60\""], "20", nil, .seconds(40)),
            (["max-age=60"], "90", nil, .zero), (["no-cache, max-age=60"], nil, nil, .zero),
            (["no-store"], nil, nil, .zero),
            (["max-age=99999999999999999999"], nil, nil, .seconds(86_400)), (["max-age=x"], nil, nil, nil),
            ([], nil, nil, nil),
            (["private"], nil, "Fri, 21 Nov 2025 06:56:49 GMT", .seconds(60)), ([], nil, "0", .zero),
            (["max-age=10", "max-age=20"], nil, "0", .seconds(10)),
        ] as [([String], String?, String?, Duration?)]
    )
    func `freshness comes from Cache-Control, Age and Expires, and is at most a day`(
        values: [String],
        age: String?,
        expires: String?,
        expected: Duration?
    ) {
        let freshness = CacheControl(values).freshness(age: age, expires: expires, date: nil, now: Self.now)
        #expect(freshness == expected)
    }
}
