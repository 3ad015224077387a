import SystemSupport
import Testing

@Suite struct DurationsTests {
    @Test(
        arguments: [
            ("500ms", 500), ("2s", 2000), ("15m", 900_000), ("1h", 3_600_000), ("1d", 86_400_000), ("10", 10_000),
            ("0", 0),
            ("1.5s", 1500), ("0.25m", 15_000), (".5", 500), ("0.0004s", 0), ("0.0006s", 1), ("365d", 31_536_000_000),
            ("1w", 604_800_000), ("1y", 31_536_000_000), ("0.5y", 15_768_000_000), ("100y", 3_153_600_000_000),
        ] as [(String, Int64)]
    )
    func `a duration is parsed in its unit, or in seconds without one`(text: String, milliseconds: Int64) {
        #expect(Durations.duration(text) == .milliseconds(milliseconds))
    }

    @Test(arguments: [
        "", "s", "ms", ".", "-1s", "+1s", "1 s", " 1s", "1s ", "1S", "1Y", "1yr", "1mo", "1us", "1e3", "1..5s", "1.2.3",
        "0x10",
        "inf", "nan",
        "1h30m", "٣s", "1,5s", "99999999999999s", "9" + String(repeating: "9", count: 400),
    ])
    func `an invalid duration is rejected`(text: String) {
        #expect(Durations.duration(text) == nil)
    }

    @Test(arguments: ["0s", "1ms", "999ms", "1s", "59s", "90s", "1m", "15m", "1h", "36h", "1d", "365d", "1500ms"])
    func `a duration in its shortest form is formatted as it was written`(text: String) throws {
        #expect(Durations.text(try #require(Durations.duration(text))) == text)
    }

    @Test(
        arguments: [
            ("0", 0), ("7", 7), ("90", 90), ("90.25", 90.25), ("1:05", 65), ("1:5", 65), ("90:00", 5400),
            ("1:02:03", 3723),
            ("0:59.5", 59.5), ("100:59:59", 363_599),
        ] as [(String, Double)]
    )
    func `a position in an item is parsed`(text: String, seconds: Double) {
        #expect(Durations.position(text) == seconds)
    }

    @Test(arguments: [
        "", ":", "1:", ":1", "1:60", "1:60:00", "1:2:3:4", "-1", "+1", "1.5:00", "1e3", " 1", "1 ", "a", ".5", "1:.5",
        "٣",
    ])
    func `an invalid position is rejected`(text: String) {
        #expect(Durations.position(text) == nil)
    }

    @Test(
        arguments: [
            (0, "0:00"), (5.999, "0:05"), (59.99, "0:59"), (60, "1:00"), (3599, "59:59"), (3600, "1:00:00"),
            (36_061, "10:01:01"),
            (-3, "0:00"), (.nan, "0:00"), (.infinity, "0:00"),
        ] as [(Double, String)]
    )
    func `a clock shows whole seconds, rounded down`(seconds: Double, text: String) {
        #expect(Durations.clock(seconds) == text)
    }

    @Test func `a duration converts to milliseconds and to seconds`() {
        #expect(Duration.microseconds(1999).milliseconds == 1)
        #expect(Duration.seconds(3).milliseconds == 3000)
        #expect(Duration.milliseconds(-1500).milliseconds == -1500)
        #expect(Duration.milliseconds(1500).seconds == 1.5)
        #expect(Duration.milliseconds(-250).seconds == -0.25)
    }
}
