import FoundationEssentials
import SystemSupport
import Testing

@Suite struct DayChartTests {
    /// 2026-01-05T00:00:00Z.
    private let start = Date(timeIntervalSince1970: 1_767_571_200)

    @Test func `a day has a column for each half-hour, marks in their columns, and hours below`() {
        var chart = DayChart(from: start, secondsFromGMT: 0, width: 80)
        chart.add("looks", values: (0..<288).map { $0 == 17 * 6 ? 1 : 0 })
        chart.add("fetches", marks: [-60, 0, 1799, 1800, 86_400].map { start.addingTimeInterval($0) })
        let lines = chart.render().split(separator: "\n")
        #expect(lines[0] == "looks     " + String(repeating: "▁", count: 17) + "█" + String(repeating: "▁", count: 30))
        #expect(lines[1] == "fetches   ▎▎")
        #expect(lines[2] == "          0     3     6     9     12    15    18    21")
    }

    @Test func `hours are in local time, and a wide terminal gets a column for each quarter-hour`() {
        let chart = DayChart(from: start, secondsFromGMT: 3600, width: 200)
        #expect(
            chart.render() == String(repeating: " ", count: 18) + "3"
                + (0..<7).map { index in
                    let hour = String((index * 3 + 6) % 24)
                    return String(repeating: " ", count: 12 - (index == 0 ? 1 : String((index * 3 + 3) % 24).count))
                        + hour
                }.joined()
        )
    }
}
