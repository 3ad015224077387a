import BackgrounderAPI
import FoundationEssentials
import SystemSupport
import Testing

@testable import BackgrounderCommands

/// Times on a terminal and in a pipe.
@Suite struct TimeStyleTests {
    private static let now = Date(timeIntervalSince1970: 1_763_708_149.5)

    private static let ages: [(Double, String)] = [
        (0.5, "now"), (-0.5, "now"), (1, "1 s ago"), (59.9, "59 s ago"), (60, "1 min ago"), (150, "2 min ago"),
        (3600, "1 h ago"), (47 * 3600, "47 h ago"), (48 * 3600, "2 d ago"), (59 * 86_400, "59 d ago"),
        (90 * 86_400, "3 mo ago"), (729 * 86_400, "24 mo ago"), (730 * 86_400, "2 y ago"), (-90, "in 1 min"),
        (1e300, "0 s ago"),
    ]

    @Test(arguments: ages)
    func `an age is in its largest unit`(seconds: Double, text: String) {
        #expect(TimeStyle.age(of: Self.now.addingTimeInterval(-seconds), at: Self.now) == text)
    }

    @Test func `in a pipe a time is ISO 8601 in UTC`() {
        #expect(TimeStyle.utc.text(Self.now) == "2025-11-21T06:55:49.500Z")
        #expect(TimeStyle.utc.clock(Self.now) == "2025-11-21T06:55:49.500Z")
    }

    @Test func `on a terminal a time is local and has its age, and its date if that is not today's`() {
        let style = TimeStyle.local(now: Self.now)
        let local = Self.now.localText
        #expect(style.text(Self.now) == "\(local.dropFirst(11).prefix(8)) (now)")
        let earlier = Self.now.addingTimeInterval(-3 * 86_400)
        let text = earlier.localText
        #expect(style.text(earlier) == "\(text.prefix(10)) \(text.dropFirst(11).prefix(8)) (3 d ago)")
        #expect(style.clock(earlier) == "\(text.prefix(10)) \(text.dropFirst(11).prefix(8))")
    }

    // MARK: - Points

    private static let point = Location(
        latitude: 37.123456789,
        longitude: -122.5,
        altitude: 12.34,
        horizontalAccuracy: 4.75,
        speed: 15.94,
        course: 256.3,
        timestamp: now.addingTimeInterval(-150),
        segmentStart: true
    )

    @Test func `points in a pipe have all columns with all digits, and times in UTC`() {
        let lines = LocationTable(time: .utc, limit: nil).render([Self.point]).split(separator: "\n")
        #expect(
            lines[0].split(separator: " ") == ["TIME", "LATITUDE", "LONGITUDE", "±", "m", "m/s", "COURSE", "ALT", "m"]
        )
        #expect(
            lines[1].split(separator: " ") == [
                "2025-11-21T06:53:19.500Z", "37.12345679", "-122.50000000", "4.75", "15.94", "256.3", "12.3", "new",
                "segment",
            ]
        )
    }

    @Test(arguments: [(200, "segment"), (80, "COURSE"), (72, "m/s"), (60, "m/s"), (45, "LONGITUDE")])
    func `points on a terminal are local with their age, in as many columns as fit`(columns: Int, last: String) {
        let table = LocationTable(time: .local(now: Self.now), limit: columns)
        let line = table.line(Self.point)
        #expect(line.hasPrefix(Self.point.timestamp.localSeconds + " "))
        #expect(line.contains("2 min ago") == (columns >= 72))
        if last == "segment" { #expect(line.hasSuffix("new segment")) } else { #expect(table.heading.hasSuffix(last)) }
        #expect(max(line.terminalColumns, table.heading.terminalColumns) <= columns)
    }

    @Test func `the row of speeds fits`() {
        let points = Array(repeating: Self.point, count: 100)
        #expect(LocationTable.speeds(of: points, limit: 50)?.terminalColumns == 50)
        #expect(LocationTable.speeds(of: points, limit: 200).map { $0.terminalColumns < 90 } == true)
    }
}
