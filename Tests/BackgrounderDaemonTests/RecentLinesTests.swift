import BackgrounderAPI
import ServiceLog
import Testing

@testable import BackgrounderDaemon

/// The newest lines of the log in memory.
@Suite struct RecentLinesTests {
    @Test func `only the newest lines stay, and they are filtered like those of the file`() {
        var lines = RecentLines()
        #expect(lines.newest(5, LogFilter()) == [])
        for number in 0..<4000 {
            let level = number.isMultiple(of: 2) ? "info" : "warning"
            lines.append("2026-11-20T10:00:00.000Z \(level) Line \(number)\n".utf8)
        }
        let newest = lines.newest(3, LogFilter()).map(\.message)
        #expect(newest == ["Line 3997", "Line 3998", "Line 3999"])
        let warnings = lines.newest(2, LogFilter(level: .warning)).map(\.message)
        #expect(warnings == ["Line 3997", "Line 3999"])
        let all = lines.newest(.max, LogFilter())
        #expect(all.count == 1500)
        #expect(all.first?.message == "Line 2500")
        lines.append("2026-11-20T10:00:00.000Z info A\n2026-11-20T10:00:00.000Z info B\n".utf8)
        #expect(lines.newest(2, LogFilter()).map(\.message) == ["A", "B"])
    }
}
