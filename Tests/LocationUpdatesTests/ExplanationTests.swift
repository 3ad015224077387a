import BackgrounderAPI
import Foundation
import LocationUpdates
import Testing

@Suite struct ExplanationTests {
    /// Returns the filter's decision about the last of `reports`, and its explanation.
    private func explain(
        _ reports: [Report],
        _ settings: LocationSettings = LocationSettings()
    ) throws -> (decision: Decision, explanation: Explanation) {
        var filter = LocationFilter(settings: settings)
        for report in reports.dropLast() { _ = filter.explain(report) }
        let last = try #require(reports.last)
        let explained = filter.explain(last)
        return try #require(explained)
    }

    @Test(
        arguments: [
            (.first, [.fix(fix(at: 0))]),
            (.newTrack, [.fix(point(at: 0)), .fix(point(at: 1, opensSegment: true))]),
            (.newTrack, [.fix(fix(at: 0)), .sourceChanged, .fix(fix(at: 1))]),
            (.relocation, [0, 9000, 9010, 9020].enumerated().map { .fix(fix(at: Double($0), metres: $1)) }),
            (.device, [.fix(fix(at: 0)), .fix(fix(at: 11, device: "/dev/gps1"))]),
            (.gap, [.fix(fix(at: 0)), .fix(fix(at: 61))]),
            (.reconnect, [.fix(fix(at: 0)), .reconnected, .fix(fix(at: 11))]),
            (.started, [.fix(fix(at: 0)), .started, .fix(fix(at: 1))]),
            (nil, [.fix(fix(at: 0)), .reconnected, .fix(fix(at: 10))]),
        ] as [(SegmentReason?, [Report])]
    )
    func `an accepted point that opens a segment says why`(reason: SegmentReason?, reports: [Report]) throws {
        let (decision, explanation) = try explain(reports)
        guard case .accepted(let location) = decision else {
            Issue.record("\(decision)")
            return
        }
        #expect(explanation.segment == reason)
        #expect((location.segmentStart == true) == (reason != nil))
    }

    @Test func `an explanation has the numbers that decided and omits those that were not needed`() throws {
        let settings = LocationSettings(distanceFilter: 10, maximumAccuracy: 20)
        let start = Report.fix(fix(at: 0))
        let near = try explain([start, .fix(fix(at: 1, metres: 4))], settings)
        #expect(near.explanation.estimate == 5)
        #expect(near.explanation.source == .receiver)
        #expect(near.explanation.limit == 20)
        #expect(near.explanation.bound == 10)
        #expect(abs((near.explanation.distance ?? 0) - 4) < 0.01)
        let noise = try explain([start, .fix(fix(at: 1, metres: 14))], settings)
        #expect(abs((noise.explanation.bound ?? 0) - 200.0.squareRoot()) < 1e-9)
        #expect(noise.explanation.segment == nil)
        let away = try explain([start, .fix(fix(at: 1, metres: 14, speed: 14))], settings)
        #expect(away.explanation.bound == 10)
        let coarse = try explain([start, .fix(fix(at: 1, metres: 50, accuracy: 25))], settings)
        #expect(coarse.explanation.estimate == 25)
        #expect(coarse.explanation.distance == nil)
        let none = try explain([start, .fix(fix(at: 1, mode: 1))], settings)
        #expect(none.explanation.estimate == nil)
        #expect(none.explanation.limit == 20)
        // The distance is also given without a distance filter, and when a time rule rejects the fix.
        let free = try explain([start, .fix(fix(at: 1, metres: 4))])
        #expect(free.explanation.distance != nil)
        #expect(free.explanation.bound == nil)
        let jump = try explain([start, .fix(fix(at: 1, metres: 9000))])
        #expect(abs((jump.explanation.distance ?? 0) - 9000) < 10)
        var filter = LocationFilter()
        let unexplained = filter.explain(.reconnected)
        #expect(unexplained == nil)
    }
}
