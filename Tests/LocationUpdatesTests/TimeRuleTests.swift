import BackgrounderAPI
import Foundation
import LocationUpdates
import Testing

@Suite struct TimeRuleTests {
    struct Sample: CustomTestStringConvertible, Sendable {
        var name: String
        var fixes: [Fix]
        var reasons: [RejectionReason?]
        /// The indices of the fixes that open a segment.
        var segments: [Int] = [0]
        var testDescription: String { name }
    }

    static let samples: [Sample] = [
        Sample(
            name: "an equal time is a duplicate",
            fixes: [fix(at: 0), fix(at: 0, metres: 5)],
            reasons: [nil, .duplicate]
        ),
        Sample(
            name: "a fix less than 2 s back is out of order, no matter how often",
            fixes: [fix(at: 10), fix(at: 8.001), fix(at: 8.5), fix(at: 9), fix(at: 9.9)],
            reasons: [nil, .outOfOrder, .outOfOrder, .outOfOrder, .outOfOrder]
        ),
        Sample(
            name: "only fixes at least 2 s back count towards a backward clock jump",
            fixes: [fix(at: 100), fix(at: 98), fix(at: 98.5), fix(at: 99), fix(at: 99.5)],
            reasons: [nil, .outOfOrder, .outOfOrder, .outOfOrder, .outOfOrder]
        ),
        Sample(
            name: "a backward clock jump is accepted at the third fix and opens a segment",
            fixes: [fix(at: 100), fix(at: 10), fix(at: 11), fix(at: 12), fix(at: 13)],
            reasons: [nil, .outOfOrder, .outOfOrder, nil, nil],
            segments: [0, 3]
        ),
        Sample(
            name: "a relocation is accepted at the third fix and opens a segment",
            fixes: [
                fix(at: 0), fix(at: 1, metres: 5000), fix(at: 2, metres: 5010), fix(at: 3, metres: 5020),
                fix(at: 4, metres: 5030),
            ],
            reasons: [nil, .implausible, .implausible, nil, nil],
            segments: [0, 3]
        ),
        Sample(
            name: "a single teleport is always rejected",
            fixes: [fix(at: 0), fix(at: 1, metres: 5000), fix(at: 2, metres: 2), fix(at: 3, metres: 5000), fix(at: 4)],
            reasons: [nil, .implausible, nil, .implausible, nil]
        ),
        Sample(
            name: "a fix that fits the track ends the row",
            fixes: [
                fix(at: 0), fix(at: 1, metres: 5000), fix(at: 2, metres: 5000), fix(at: 3), fix(at: 4, metres: 5000),
                fix(at: 5, metres: 5000), fix(at: 6, metres: 5000),
            ],
            reasons: [nil, .implausible, .implausible, nil, .implausible, .implausible, nil],
            segments: [0, 6]
        ),
        Sample(
            name: "fixes that do not agree with each other begin a new row",
            fixes: [
                fix(at: 0), fix(at: 1, metres: 5000), fix(at: 2, metres: -9000), fix(at: 3, metres: -9000),
                fix(at: 4, metres: -9000),
            ],
            reasons: [nil, .implausible, .implausible, .implausible, nil],
            segments: [0, 4]
        ),
        Sample(
            name: "a fix with the same time neither counts nor ends the row",
            fixes: [
                fix(at: 0), fix(at: 1, metres: 5000), fix(at: 1, metres: 5000), fix(at: 2, metres: 5000),
                fix(at: 2, metres: 5000), fix(at: 3, metres: 5000),
            ],
            reasons: [nil, .implausible, .implausible, .implausible, .implausible, nil],
            segments: [0, 5]
        ),
        Sample(
            name: "other rejections, duplicates and small steps back do not end the row",
            fixes: [
                fix(at: 10), fix(at: 11, metres: 5000), fix(at: 12, accuracy: 99), fix(at: 12, mode: 1), fix(at: 10),
                fix(at: 9),
                fix(at: 12, metres: 5000), fix(at: 13, metres: 5000),
            ],
            reasons: [nil, .implausible, .accuracy, .noFix, .duplicate, .outOfOrder, .implausible, nil],
            segments: [0, 7]
        ),
        Sample(
            name: "a row may mix both reasons, each compared with the last accepted fix",
            fixes: [fix(at: 10), fix(at: 5, metres: 50), fix(at: 11, metres: 500), fix(at: 12, metres: 510)],
            reasons: [nil, .outOfOrder, .implausible, nil],
            segments: [0, 3]
        ),
        Sample(
            name: "1.5 times the reported speed is plausible",
            fixes: [fix(at: 0, speed: 200), fix(at: 1, metres: 295, speed: 20), fix(at: 2, metres: 615, speed: 200)],
            reasons: [nil, nil, .implausible]
        ),
        Sample(
            name: "120 m/s is plausible without a reported speed",
            fixes: [fix(at: 0), fix(at: 1, metres: 119.5)],
            reasons: [nil, nil]
        ),
        Sample(
            name: "121 m/s is implausible without a reported speed",
            fixes: [fix(at: 0), fix(at: 1, metres: 121)],
            reasons: [nil, .implausible]
        ),
        Sample(name: "a gap of 60 s continues the segment", fixes: [fix(at: 0), fix(at: 60)], reasons: [nil, nil]),
        Sample(
            name: "a gap over 60 s opens a segment",
            fixes: [fix(at: 0), fix(at: 60.001)],
            reasons: [nil, nil],
            segments: [0, 1]
        ),
        Sample(
            name: "a new segment of a file is not compared with the points before it",
            fixes: [
                point(at: 100), point(at: 100, metres: 9000, opensSegment: true), point(at: 5, opensSegment: true),
                point(at: 6),
            ],
            reasons: [nil, nil, nil, nil],
            segments: [0, 1, 2]
        ),
        Sample(
            name: "a new segment opens with its first point that passes the gate",
            fixes: [
                point(at: 100), point(at: 50, accuracy: 99, opensSegment: true), point(at: 51, metres: 9000),
                point(at: 52, metres: 9001),
            ],
            reasons: [nil, .accuracy, nil, nil],
            segments: [0, 2]
        ),
        Sample(
            name: "a new segment ends a row",
            fixes: [
                point(at: 100), point(at: 101, metres: 5000), point(at: 102, metres: 5000),
                point(at: 1, opensSegment: true),
                point(at: 2, metres: 5000), point(at: 3, metres: 5000), point(at: 4, metres: 5000),
            ],
            reasons: [nil, .implausible, .implausible, nil, .implausible, .implausible, nil],
            segments: [0, 3, 6]
        ),
    ]

    @Test(arguments: samples)
    func `each fix is accepted or rejected by the time rules and opens a segment only as they say`(_ sample: Sample) {
        var filter = LocationFilter()
        var segments: [Int] = []
        for (index, fix) in sample.fixes.enumerated() {
            switch filter.receive(.fix(fix)) {
            case .accepted(let location):
                #expect(sample.reasons[index] == nil, "fix \(index) was accepted")
                if location.segmentStart == true { segments.append(index) }
            case .rejected(let rejection): #expect(rejection.reason == sample.reasons[index], "fix \(index)")
            case nil: Issue.record("no decision")
            }
        }
        #expect(segments == sample.segments)
    }

    @Test(
        arguments: [
            (10.0, nil), (10.001, true),
        ]
    )
    func `a reconnect opens a segment only after a gap over 10 s, and only for the next accepted fix`(
        gap: Double,
        opens: Bool?
    ) {
        var filter = LocationFilter()
        _ = filter.location(fix(at: 0))
        _ = filter.receive(.reconnected)
        #expect(filter.reason(fix(at: 1, accuracy: 99)) == .accuracy)
        #expect(filter.location(fix(at: gap))?.segmentStart == opens)
        #expect(filter.location(fix(at: gap + 20))?.segmentStart == nil)
    }

    @Test func `the gap counts from the last fix that passed gate and time rules, delivered or not`() {
        var filter = LocationFilter(settings: LocationSettings(distanceFilter: 50))
        _ = filter.location(fix(at: 0))
        for second in stride(from: 30.0, through: 300, by: 30) {
            #expect(filter.reason(fix(at: second, metres: 1)) == .distance)
        }
        #expect(filter.location(fix(at: 330, metres: 60))?.segmentStart == nil)
        #expect(filter.location(fix(at: 391, metres: 60))?.segmentStart == true)
    }

    @Test func `a late fix at rest neither sets the time back nor opens a segment afterwards`() {
        var filter = LocationFilter(settings: LocationSettings(distanceFilter: 10))
        var passed: Location?
        for second in 0...100 { _ = filter.receive(.fix(fix(at: Double(second))), passed: &passed) }
        #expect(passed?.timestamp == time(100))
        _ = filter.receive(.fix(fix(at: 20)), passed: &passed)
        #expect(passed == nil)
        let next = filter.location(fix(at: 101, metres: 20))
        #expect(next?.timestamp == time(101))
        #expect(next?.segmentStart == nil)
    }

    @Test func `the first fix after a start opens a segment and is still compared with earlier ones`() {
        var filter = LocationFilter(settings: LocationSettings(distanceFilter: 50))
        _ = filter.location(fix(at: 0))
        _ = filter.receive(.started)
        #expect(filter.reason(fix(at: 0)) == .duplicate)
        #expect(filter.location(fix(at: 1))?.segmentStart == true)
        #expect(filter.reason(fix(at: 2)) == .distance)
    }

    @Test func `after a source change no fix is compared with earlier ones`() {
        var filter = LocationFilter()
        _ = filter.location(fix(at: 100))
        _ = filter.receive(.sourceChanged)
        #expect(filter.location(fix(at: 1, metres: 90_000, device: "/dev/gps1"))?.segmentStart == true)
    }
}
