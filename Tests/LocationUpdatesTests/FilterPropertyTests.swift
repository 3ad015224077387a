import BackgrounderAPI
import CGPS
import Foundation
import LocationUpdates
import SystemSupport
import TestSupport
import Testing

@Suite(.computing) struct FilterPropertyTests {
    /// A random walk with everything that can go wrong: lost fixes, odd values, noise, teleports, clock jumps, two
    /// receivers and silence.
    static func reports(seed: UInt64, count: Int) -> [Report] {
        var random = SeededGenerator(seed: seed)
        var reports: [Report] = []
        var second = 0.0
        var metres = 0.0
        var arrival = 0.0
        func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &random) < probability }
        for _ in 0..<count {
            let step = chance(0.01) ? Double.random(in: 5...100, using: &random) : chance(0.05) ? 0 : 1
            second += step
            arrival += step
            if chance(0.002) { second -= Double.random(in: 0.1...500, using: &random) }
            if chance(0.005) { metres += .random(in: -90_000...90_000, using: &random) }
            metres += chance(0.4) ? 0 : Double.random(in: 0...15, using: &random)
            let device = chance(0.05) ? "/dev/gps1" : "/dev/gps0"
            if chance(0.3) { reports.append(.sky(hdop: Double.random(in: 0.5...4, using: &random), device: device)) }
            if chance(0.1) {
                reports.append(
                    .gst(
                        time: time(second),
                        latitudeError: .random(in: 1...20, using: &random),
                        longitudeError: .random(in: 1...20, using: &random),
                        device: device
                    )
                )
            }
            if chance(0.003) { reports.append(.reconnected) }
            if chance(0.001) { reports.append(.started) }
            var sample = fix(
                at: second,
                metres: metres + .random(in: -20...20, using: &random),
                mode: [0, 1, 2, 3, 3, 3, 3, 3, 3, 4].randomElement(using: &random) ?? 3,
                accuracy: chance(0.1) ? nil : pow(10, .random(in: 0...4, using: &random)),
                speed: chance(0.3) ? nil : .random(in: -0.5...20, using: &random),
                device: device,
                arrival: arrival
            )
            if chance(0.01) { sample.latitude = [nil, .nan, 200].randomElement(using: &random) ?? nil }
            if chance(0.01) { sample.latitude? += 1 }
            if chance(0.01) { sample.time = nil }
            sample.opensSegment = chance(0.002)
            sample.isFromReceiver = chance(0.97)
            reports.append(.fix(sample))
        }
        return reports
    }

    /// Whether a new filter accepts `report`, so that only the accuracy gate decides.
    static func passesGate(_ report: Report, _ settings: LocationSettings) -> Bool {
        var filter = LocationFilter(settings: settings)
        guard case .accepted = filter.receive(report) else { return false }
        return true
    }

    /// Shared by all tests that need many reports.
    static let many = reports(seed: 1, count: 100_000)

    @Test func `a fix that passes a level and a maximum passes every coarser level and larger maximum`() {
        let maxima: [Double?] = [10, 100, nil]
        var passed = Array(repeating: 0, count: DesiredAccuracy.allCases.count)
        for case .fix(let fix) in Self.many {
            // From strict to lax in both directions.
            var stricter = Array(repeating: false, count: maxima.count)
            for (index, level) in DesiredAccuracy.allCases.enumerated() {
                var smaller = false
                for (column, maximum) in maxima.enumerated() {
                    let settings = LocationSettings(desiredAccuracy: level, maximumAccuracy: maximum)
                    let passes = Self.passesGate(.fix(fix), settings)
                    if !passes, smaller || stricter[column] {
                        Issue.record(
                            "\(level) with \(String(describing: maximum)) rejects what a stricter one accepts: \(fix)"
                        )
                    }
                    (smaller, stricter[column]) = (passes, passes)
                    if passes { passed[index] += 1 }
                }
            }
        }
        #expect(passed.first ?? 0 > 5000)
        #expect(passed.last ?? 0 > passed.first ?? 0)
    }

    @Test(
        arguments: [0.0, 10, 200]
    )
    func `each fix is counted once, and delivered points keep their distance inside a segment`(distanceFilter: Double) {
        let settings = LocationSettings(desiredAccuracy: .hundredMeters, distanceFilter: distanceFilter)
        var filter = LocationFilter(settings: settings)
        var received = 0
        var accepted: [Location] = []
        var rejected = RejectionCounts()
        for report in Self.many {
            if case .fix = report { received += 1 }
            switch filter.receive(report) {
            case .accepted(let location): accepted.append(location)
            case .rejected(let rejection): rejected[rejection.reason] += 1
            case nil: break
            }
        }
        #expect(received == 100_000)
        #expect(accepted.count + rejected.total == received)
        for reason in RejectionReason.allCases where distanceFilter > 0 || ![.distance, .jitter].contains(reason) {
            #expect(rejected[reason] > 0, "\(reason) did not occur")
        }
        var guarded = 0
        for (earlier, later) in zip(accepted, accepted.dropFirst()) where later.segmentStart == nil {
            let distance = earth_distance(earlier.latitude, earlier.longitude, later.latitude, later.longitude)
            if !(distance >= distanceFilter) { Issue.record("\(later) is too near to \(earlier)") }
            if later.timestamp <= earlier.timestamp { Issue.record("\(later) is not later than \(earlier)") }
            if distanceFilter > 0, later.speed ?? 0 < 0.5, let a = earlier.horizontalAccuracy,
                let b = later.horizontalAccuracy
            {
                guarded += 1
                let bound = 2 * (a * a + b * b).squareRoot()
                if !(distance > bound) { Issue.record("\(later) is within the error of \(earlier)") }
            }
        }
        if distanceFilter > 0 { #expect(guarded > 100) }
    }

    @Test func `a filter restored at random places decides as one without restarts, explained or not`() throws {
        var random = SeededGenerator(seed: 77)
        var whole = LocationFilter(settings: LocationSettings(desiredAccuracy: .hundredMeters, distanceFilter: 20))
        var resumed = whole
        for (index, report) in Self.many.enumerated() {
            if Int.random(in: 0..<250, using: &random) == 0 {
                resumed = try JSONDecoder().decode(LocationFilter.self, from: JSONEncoder().encode(resumed))
            }
            let (expected, actual) = (whole.receive(report), resumed.explain(report))
            guard expected == actual?.decision else {
                Issue.record("report \(index): \(String(describing: actual)), not \(String(describing: expected))")
                return
            }
            if case .rejected(let rejection) = expected, [.distance, .jitter].contains(rejection.reason) {
                // The explanation must have exactly the number that the filter used.
                if actual?.explanation.distance != rejection.value { Issue.record("report \(index)") }
            }
        }
        #expect(whole == resumed)
    }

    @Test(
        arguments: [1, 7, 100, 4999]
    )
    func `a filter stored and restored at any moment continues as if uninterrupted`(interval: Int) throws {
        let settings = LocationSettings(desiredAccuracy: .hundredMeters, distanceFilter: 20)
        var whole = LocationFilter(settings: settings)
        var resumed = whole
        for (index, report) in Self.reports(seed: 3, count: 5000).enumerated() {
            if index % interval == 0 {
                resumed = try JSONDecoder().decode(LocationFilter.self, from: JSONEncoder().encode(resumed))
            }
            let (expected, actual) = (whole.receive(report), resumed.receive(report))
            #expect(expected == actual, "report \(index)")
        }
        #expect(whole == resumed)
    }

    @Test(
        arguments: [
            LocationSettings(), LocationSettings(desiredAccuracy: .hundredMeters, distanceFilter: 10),
            LocationSettings(desiredAccuracy: .bestForNavigation, distanceFilter: 20),
            LocationSettings(desiredAccuracy: .threeKilometers, maximumAccuracy: 500),
        ]
    )
    func `the filter decides as an independent implementation of the rules does`(settings: LocationSettings) {
        for seed in 10..<16 as Range<UInt64> {
            var filter = LocationFilter(settings: settings)
            var reference = ReferenceFilter(settings)
            for (index, report) in Self.reports(seed: seed, count: 800).enumerated() {
                let decision = filter.receive(report)
                let outcome: ReferenceFilter.Outcome? =
                    switch decision {
                    case .accepted(let location): .accepted(opensSegment: location.segmentStart == true)
                    case .rejected(let rejection): .rejected(rejection.reason)
                    case nil: nil
                    }
                let expected = reference.receive(report)
                guard outcome == expected else {
                    Issue.record(
                        "report \(index) of \(seed): \(String(describing: outcome)), not \(String(describing: expected))"
                    )
                    return
                }
            }
        }
    }
}
