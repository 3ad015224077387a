import Foundation
import Testing

@testable import BackgroundFetch

@Suite struct LocalZoneTests {
    /// Central Europe in 2026.
    private let berlin = LocalZone { date in
        (1_774_746_000..<1_792_890_000).contains(date.timeIntervalSince1970) ? 7200 : 3600
    }

    @Test func `days of 23 and 25 hours end at midnight`() {
        let spring = Date(timeIntervalSince1970: 1_774_738_800)  // 2026-03-29T00:00+01:00
        let autumn = Date(timeIntervalSince1970: 1_792_879_200)  // 2026-10-25T00:00+02:00
        #expect(berlin.midnight(after: spring).timeIntervalSince(spring) == 23 * 3600)
        #expect(berlin.midnight(after: autumn).timeIntervalSince(autumn) == 25 * 3600)
        #expect(berlin.midnight(after: autumn.addingTimeInterval(-1)) == autumn)
        #expect(LocalZone.fixed(-3600).midnight(after: Date(timeIntervalSince1970: 0)).timeIntervalSince1970 == 3600)
    }

    @Test func `dates before 1970 and invalid dates have a day too`() {
        #expect(LocalTime(Date(timeIntervalSince1970: -1), 0).day == -1)
        #expect(LocalTime(Date(timeIntervalSince1970: -1), 0).slot == 287)
        #expect(LocalTime(Date(timeIntervalSince1970: .nan), 0).day == 0)
        #expect(LocalZone.system.secondsFromGMT(.distantFuture) == LocalZone.system.secondsFromGMT(.distantFuture))
        #expect(LocalTime.weekday(ofDay: 0) == 4)
        #expect(LocalTime.weekday(ofDay: -5) == 6)
    }
}
