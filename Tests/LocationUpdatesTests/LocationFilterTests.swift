import BackgrounderAPI
import Foundation
import LocationUpdates
import Testing

@Suite struct LocationFilterTests {
    @Test(arguments: [-1, 0, 1])
    func `a fix below 2D counts as no fix, even with other values`(mode: Int) {
        var filter = LocationFilter()
        #expect(filter.reason(Fix(mode: mode)) == .noFix)
        #expect(filter.reason(fix(at: 0, mode: mode)) == .noFix)
    }

    @Test func `a fix without a time or place, out of range or of an unknown mode is invalid`() {
        let good = fix(at: 0)
        let changes: [(inout Fix) -> Void] = [
            { $0.time = nil }, { $0.latitude = nil }, { $0.longitude = nil }, { $0.latitude = .nan },
            { $0.longitude = .infinity },
            { $0.latitude = 90.0001 }, { $0.latitude = -90.0001 }, { $0.longitude = 180.0001 },
            { $0.longitude = -180.0001 },
            { $0.mode = 4 }, { $0.mode = 99 },
        ]
        for (index, change) in changes.enumerated() {
            var filter = LocationFilter()
            var bad = good
            change(&bad)
            #expect(filter.reason(bad) == .invalid, "change \(index)")
        }
    }

    @Test(
        arguments: [
            (90.0, 0.0), (-90, 180), (0, -180), (0, 0), (51.5, 0),
        ]
    )
    func `the poles, the antimeridian and the place 0,0 are valid`(latitude: Double, longitude: Double) {
        var filter = LocationFilter()
        var place = fix(at: 0)
        place.latitude = latitude
        place.longitude = longitude
        #expect(filter.location(place)?.latitude == latitude)
    }

    @Test func `a location has the values that the fix knows and nothing else`() throws {
        var filter = LocationFilter()
        var full = fix(at: 0, speed: 3)
        full.altitude = 520
        full.course = 360
        full.epv = 7
        #expect(
            filter.location(full)
                == Location(
                    latitude: 48,
                    longitude: 11,
                    altitude: 520,
                    horizontalAccuracy: 5,
                    accuracySource: .receiver,
                    verticalAccuracy: 7,
                    speed: 3,
                    course: 0,
                    timestamp: time(0),
                    mode: 3,
                    segmentStart: true
                )
        )
        var odd = fix(at: 1, speed: -1)
        odd.altitude = .nan
        odd.course = 361
        odd.epv = -1
        let decided = filter.location(odd)
        let sparse = try #require(decided)
        #expect(sparse.altitude == nil)
        #expect(sparse.speed == nil)
        #expect(sparse.course == nil)
        #expect(sparse.verticalAccuracy == nil)
        #expect(sparse.segmentStart == nil)
    }

    @Test func `the track follows the first accepted device until that is silent for 10 s`() {
        var filter = LocationFilter()
        #expect(filter.reason(fix(at: 0, accuracy: 99, device: "b")) == .accuracy)
        #expect(filter.reason(fix(at: 1, device: "a")) == nil)
        #expect(filter.reason(fix(at: 2, device: "b")) == .device)
        #expect(filter.reason(fix(at: 3, accuracy: 99, device: "a")) == .accuracy)
        #expect(filter.reason(fix(at: 4, mode: 1, device: "a")) == .noFix)
        #expect(filter.reason(fix(at: 12.999, device: "b")) == .device)
        #expect(filter.reason(fix(at: 13, accuracy: 99, device: "b")) == .accuracy)
        #expect(filter.location(fix(at: 13.5, device: "b"))?.segmentStart == true)
        #expect(filter.reason(fix(at: 14, device: "a")) == .device)
    }

    @Test func `after a restart the followed device counts as silent`() {
        var filter = LocationFilter()
        #expect(filter.reason(fix(at: 1, device: "a", arrival: 5000)) == nil)
        filter.restart()
        #expect(filter.location(fix(at: 2, device: "b", arrival: 3))?.segmentStart == true)
    }

    @Test func `a distance filter of 0 delivers every fix`() {
        var filter = LocationFilter()
        #expect(filter.reasons((0..<5).map { fix(at: Double($0)) }) == [nil, nil, nil, nil, nil])
    }

    @Test func `the distance counts from the last delivered point`() throws {
        var filter = LocationFilter(settings: LocationSettings(distanceFilter: 10, jitterGuard: false))
        let reasons = filter.reasons((0...30).map { fix(at: Double($0), metres: Double($0), speed: 1) })
        let delivered = reasons.indices.filter { reasons[$0] == nil }
        #expect(delivered == [0, 10, 20, 30] || delivered == [0, 11, 21, 31] || delivered == [0, 11, 22])
        let refusal = filter.rejection(fix(at: 31, metres: Double(delivered.last ?? 0) + 4))
        let rejection = try #require(refusal)
        #expect(rejection.reason == .distance)
        #expect(rejection.limit == 10)
        #expect(abs((rejection.value ?? 0) - 4) < 0.01)
    }

    @Test func `a point that opens a segment is delivered regardless of the distance`() {
        var filter = LocationFilter(settings: LocationSettings(distanceFilter: 1000))
        #expect(
            filter.reasons([fix(at: 0), fix(at: 1), fix(at: 70), fix(at: 71)]) == [nil, .distance, nil, .distance]
        )
    }

    @Test func `a distance within the position errors is not movement while standing`() throws {
        // 2 × √(5.01² + 5.01²) is 14.2 m.
        for (metres, speed, reason) in [
            (14.0, nil, RejectionReason.jitter), (14.5, nil, nil), (14, 0.49, .jitter), (14, 0.5, nil),
            (14, -1, .jitter), (9, 9, .distance),
        ] as [(Double, Double?, RejectionReason?)] {
            var filter = LocationFilter(settings: LocationSettings(distanceFilter: 10))
            #expect(filter.reason(fix(at: 0, accuracy: 5.01)) == nil)
            #expect(filter.reason(fix(at: 1, metres: metres, accuracy: 5.01, speed: speed)) == reason, "\(metres) m")
        }
    }

    @Test func `the jitter guard is off if disabled, at bestForNavigation, or without a distance or accuracy`() {
        let off: [LocationSettings] = [
            LocationSettings(distanceFilter: 10, jitterGuard: false),
            LocationSettings(desiredAccuracy: .bestForNavigation, distanceFilter: 10),
            LocationSettings(distanceFilter: 0),
        ]
        for settings in off {
            var filter = LocationFilter(settings: settings)
            #expect(filter.reasons([fix(at: 0, accuracy: 14), fix(at: 1, metres: 11, accuracy: 14)]) == [nil, nil])
        }
        var filter = LocationFilter(settings: LocationSettings(distanceFilter: 10))
        #expect(filter.reasons([point(at: 0), point(at: 1, metres: 11, accuracy: 14)]) == [nil, nil])
        #expect(filter.reason(point(at: 2, metres: 0)) == nil)
    }

    @Test func `a track has the newest 100 locations in order of acceptance`() {
        var filter = LocationFilter()
        var track = Track()
        #expect(track.newest == nil)
        #expect(track.last(5) == [])
        var all: [Location] = []
        for second in 0..<250 {
            guard let location = filter.location(fix(at: Double(second))) else { continue }
            track.append(location)
            all.append(location)
            #expect(track.newest == location)
        }
        #expect(track.count == 100)
        #expect(track.last(100) == all.suffix(100))
        #expect(track.last(1000) == all.suffix(100))
        #expect(track.last(3) == all.suffix(3))
        #expect(track.last(0) == [])
        #expect(track.last(-1) == [])
        #expect(Track(all).last(100) == all.suffix(100))
    }
}
