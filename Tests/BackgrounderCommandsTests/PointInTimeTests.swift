import Foundation
import Testing

@testable import BackgrounderCommands

@Suite struct PointInTimeTests {
    @Test(arguments: [("10m", 600), ("2h", 7200), ("7d", 604_800), ("90s", 90), ("500ms", 0.5)] as [(String, Double)])
    func `a span means that long before now`(text: String, seconds: Double) throws {
        let before = Date()
        let date = try #require(PointInTime(argument: text)).date
        #expect(date >= before.addingTimeInterval(-seconds - 0.001))
        #expect(date <= Date().addingTimeInterval(-seconds + 0.001))
    }

    @Test func `ISO 8601 times are read with and without a time zone`() {
        #expect(PointInTime(argument: "2014-12-22T04:05:13Z")?.date == Date(timeIntervalSince1970: 1_419_221_113))
        #expect(PointInTime(argument: "2014-12-22T06:05:13+02:00")?.date == Date(timeIntervalSince1970: 1_419_221_113))
        #expect(PointInTime(argument: "2014-12-22")?.date == Date(timeIntervalSince1970: 1_419_206_400))
    }

    @Test func `today and yesterday begin at local midnight`() throws {
        let today = try #require(PointInTime(argument: "today")).date
        let yesterday = try #require(PointInTime(argument: "yesterday")).date
        #expect(Calendar.current.startOfDay(for: Date()) == today)
        #expect(Calendar.current.startOfDay(for: yesterday) == yesterday)
        #expect(Calendar.current.isDate(yesterday.addingTimeInterval(36 * 3600), inSameDayAs: today))
        #expect(PointInTime(argument: "now") != nil)
    }

    @Test(arguments: ["", "10", "1.5", "soon", "tomorrow", "-10m", "10 m", "10m ago", "2014-13-01", "1e3"])
    func `text that is not a time is refused`(text: String) {
        #expect(PointInTime(argument: text) == nil)
    }
}
