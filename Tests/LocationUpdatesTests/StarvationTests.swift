import BackgrounderAPI
import SystemSupport
import Testing

@testable import LocationUpdates

/// The reports about fixes that are not accurate enough.
@Suite struct StarvationTests {
    @Test func `fixes of the last 60 s are counted, even when the clock jumps`() {
        var recent = RecentFixes()
        for second in 0..<200 { recent.add(at: Double(second)) }
        #expect(recent.total == 60)
        recent.add(at: 220)
        #expect(recent.total == 41 - 1)
        recent.add(at: 219)
        #expect(recent.total == 41)
        recent.add(at: 279.9)
        #expect(recent.total == 3)
        recent.add(at: 1e9)
        #expect(recent.total == 1)
        for instant in [-1e9, .infinity, .nan, -1e300, 1e18] { recent.add(at: instant) }
        recent.clear()
        #expect(recent.total == 0)
        recent.add(at: -70.5)
        recent.add(at: -12)
        #expect(recent.total == 2)
        recent.add(at: -11)
        #expect(recent.total == 2)
    }

    @Test(
        arguments: [
            (.accuracy, 48, .best, nil, "`location accuracy hundredMeters`"),
            (.accuracy, 20, .bestForNavigation, nil, "`location accuracy best`"),
            (.accuracy, 301, .best, nil, "`location accuracy kilometer`"),
            (.accuracy, 5000, .best, nil, "`location accuracy threeKilometers`"),
            (.accuracy, 48, .hundredMeters, 20, "`location maximum none`"),
            (.accuracy, 48, .best, 20, "`location accuracy hundredMeters` and `location maximum none`"),
            (.accuracy, 48, .best, 60, "`location accuracy hundredMeters`"),
            (.accuracy, nil, .bestForNavigation, 20, "`location accuracy best`"),
            (.noAccuracy, nil, .best, nil, "`location accuracy threeKilometers`"),
            (.noAccuracy, nil, .best, 5, "`location accuracy threeKilometers` and `location maximum none`"),
            (.noAccuracy, nil, .threeKilometers, 5, "`location maximum none`"),
            (.invalid, nil, .best, 5, nil), (.implausible, 400, .best, nil, nil), (.outOfOrder, 3, .best, nil, nil),
        ] as [(RejectionReason, Double?, DesiredAccuracy, Double?, String?)]
    )
    func `the remedy is the finest setting that accepts the fix, or nil if no setting does`(
        reason: RejectionReason,
        value: Double?,
        level: DesiredAccuracy,
        maximum: Double?,
        text: String?
    ) {
        let settings = LocationSettings(desiredAccuracy: level, maximumAccuracy: maximum)
        #expect(Rejection(reason: reason, value: value).remedy(settings, isFromReceiver: true) == text)
    }

    @Test func `the accuracy level that the remedy recommends accepts the rejected fix`() {
        for level in DesiredAccuracy.allCases {
            for accuracy in [4.0, 14, 16, 29, 31, 299, 301, 2999, 3001, 50_000] {
                var filter = LocationFilter(settings: LocationSettings(desiredAccuracy: level))
                let poor = fix(at: 0, accuracy: accuracy)
                guard let rejection = filter.rejection(poor) else { continue }
                let words = rejection.remedy(filter.settings, isFromReceiver: true)?.split { " `".contains($0) } ?? []
                let advised = words.last.flatMap { DesiredAccuracy(rawValue: String($0)) }
                filter.settings.desiredAccuracy = advised ?? level
                #expect(filter.location(poor) != nil, "\(level) \(accuracy): \(words)")
            }
        }
    }

    @Test(
        arguments: [
            (Rejection(reason: .accuracy, value: 48.31, limit: 30), "accuracy 48.3 m, limit 30 m"),
            (Rejection(reason: .accuracy), "2D, but 3D is required"),
            (Rejection(reason: .noAccuracy, limit: 30), "accuracy unknown, limit 30 m"),
            (Rejection(reason: .outOfOrder, value: 3, limit: 0), "back in time by 3 s"),
            (Rejection(reason: .implausible, value: 400, limit: 120), "implausible speed 400 m/s, limit 120 m/s"),
            (Rejection(reason: .invalid), "no valid position and time"), (Rejection(reason: .duplicate), "duplicate"),
        ]
    )
    func `the value and the limit are stated in the unit of the reason`(rejection: Rejection, text: String) {
        #expect(rejection.measure == text)
    }
}
