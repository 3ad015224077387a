import BackgrounderAPI
import Foundation
import LocationUpdates
import Testing

@Suite struct AccuracyTests {
    struct Sample: CustomTestStringConvertible, Sendable {
        var name: String
        var fix: Fix
        var sky: [Double] = []
        var value: Double?
        var source: AccuracySource?
        var testDescription: String { name }
    }

    static func live(
        eph: Double? = nil,
        epx: Double? = nil,
        epy: Double? = nil,
        status: Int = 0,
        hdop: Double? = nil
    ) -> Fix {
        Fix(
            time: time(0),
            latitude: 48,
            longitude: 11,
            eph: eph,
            epx: epx,
            epy: epy,
            status: status,
            hdop: hdop,
            device: "a"
        )
    }

    static func file(hdop: Double? = nil, accuracy: Double? = nil) -> Fix {
        Fix(time: time(0), latitude: 48, longitude: 11, hdop: hdop, statedAccuracy: accuracy, isFromReceiver: false)
    }

    static let samples: [Sample] = [
        Sample(name: "an eph that does not match the model", fix: live(eph: 7.5), value: 7.5, source: .receiver),
        Sample(name: "19 × an HDOP in hundredths", fix: live(eph: 19.19), value: 19.19 / 1.731, source: .model),
        Sample(
            name: "the same printed with an error of half a millimetre",
            fix: live(eph: 19.1905),
            value: 19.1905 / 1.731,
            source: .model
        ),
        Sample(name: "a millimetre off the grid", fix: live(eph: 19.191), value: 19.191, source: .receiver),
        Sample(
            name: "within 1 % of the newest HDOP",
            fix: live(eph: 23.9),
            sky: [9, 1.25],
            value: 23.9 / 1.731,
            source: .model
        ),
        Sample(
            name: "within 1 % of the HDOP before",
            fix: live(eph: 23.9),
            sky: [1.25, 9],
            value: 23.9 / 1.731,
            source: .model
        ),
        Sample(
            name: "within 1 % of an older HDOP",
            fix: live(eph: 23.9),
            sky: [1.25, 9, 9],
            value: 23.9,
            source: .receiver
        ),
        Sample(
            name: "4.75 × the HDOP with DGPS",
            fix: live(eph: 4.82, status: 2),
            sky: [1.02],
            value: 4.82 / 1.731,
            source: .model
        ),
        Sample(name: "4.75 × the HDOP without DGPS", fix: live(eph: 4.82), sky: [1.02], value: 4.82, source: .receiver),
        Sample(name: "the grid of DGPS", fix: live(eph: 4.8925, status: 2), value: 4.8925 / 1.731, source: .model),
        Sample(name: "RTK fixed", fix: live(eph: 13.3, status: 3), value: 1, source: .model),
        Sample(name: "RTK float", fix: live(eph: 13.3, status: 4), value: 2, source: .model),
        Sample(
            name: "RTK fixed with a model that is even better",
            fix: live(eph: 1.52, status: 3),
            value: 1.52 / 1.731,
            source: .model
        ),
        Sample(
            name: "RTK fixed with the receiver's own error",
            fix: live(eph: 3.3, status: 3),
            value: 3.3,
            source: .receiver
        ),
        Sample(name: "only epx and epy", fix: live(epx: 3, epy: 4), value: 5 / 1.731, source: .model),
        Sample(name: "only epx", fix: live(epx: 3)),
        Sample(name: "an eph below 0 is unknown", fix: live(eph: -5)),
        Sample(name: "an eph of 0 is unknown", fix: live(eph: 0, epx: 3, epy: 4), value: 5 / 1.731, source: .model),
        Sample(name: "an infinite eph is unknown", fix: live(eph: .infinity)),
        Sample(name: "the HDOP of a live fix gives no accuracy", fix: live(hdop: 1)),
        Sample(name: "a file's own accuracy", fix: file(hdop: 3, accuracy: 4), value: 4, source: .file),
        Sample(name: "a file's HDOP", fix: file(hdop: 2), value: 38 / 1.731, source: .model),
        Sample(name: "a file's HDOP of 0", fix: file(hdop: 0)),
        Sample(
            name: "a file's accuracy below 0 leaves the HDOP",
            fix: file(hdop: 2, accuracy: -1),
            value: 38 / 1.731,
            source: .model
        ),
    ]

    @Test(arguments: samples)
    func `the accuracy is on Core Location's scale and states its source`(_ sample: Sample) throws {
        var filter = LocationFilter(settings: LocationSettings(desiredAccuracy: .threeKilometers))
        for hdop in sample.sky { _ = filter.receive(.sky(hdop: hdop, device: "a")) }
        let decided = filter.location(sample.fix)
        let location = try #require(decided)
        #expect(location.accuracySource == sample.source)
        #expect(location.horizontalAccuracy == sample.value)
    }

    @Test(
        arguments: [
            (0.0, "a", true), (1.5, "a", true), (-1.5, "a", true), (1.501, "a", false), (-1.501, "a", false),
            (0, "b", false),
        ]
    )
    func `a GST report applies to its device for at most 1.5 s`(age: Double, device: String, counts: Bool) throws {
        var filter = LocationFilter()
        _ = filter.receive(.gst(time: time(-age), latitudeError: 3, longitudeError: 4, device: device))
        let decided = filter.location(Self.live(eph: 9.4))
        let location = try #require(decided)
        #expect(location.accuracySource == (counts ? .gst : .receiver))
        #expect(location.horizontalAccuracy == (counts ? 5 : 9.4))
    }

    @Test func `an invalid GST report is ignored, and the newest valid one applies`() throws {
        var filter = LocationFilter()
        _ = filter.receive(.gst(time: time(0), latitudeError: 3, longitudeError: 4, device: "a"))
        _ = filter.receive(.gst(time: time(0), latitudeError: 0, longitudeError: 4, device: "a"))
        _ = filter.receive(.gst(time: time(0), latitudeError: .nan, longitudeError: 4, device: "a"))
        #expect(filter.location(Self.live(eph: 9.4))?.horizontalAccuracy == 5)
        _ = filter.receive(.gst(time: time(0), latitudeError: 6, longitudeError: 8, device: "a"))
        var later = Self.live(eph: 9.4)
        later.time = time(1)
        #expect(filter.location(later)?.horizontalAccuracy == 10)
    }

    @Test func `a level asks for its target and accepts three times that`() {
        #expect(DesiredAccuracy.allCases.map(\.target) == [5, 10, 10, 100, 1000, 3000])
        #expect(DesiredAccuracy.allCases.map(\.acceptLimit) == [15, 30, 30, 300, 3000, nil])
        #expect(DesiredAccuracy.allCases.map(\.needsAltitude) == [true, false, false, false, false, false])
    }

    @Test(arguments: DesiredAccuracy.allCases)
    func `the limit itself is accepted, and anything above it is not`(level: DesiredAccuracy) throws {
        var filter = LocationFilter(settings: LocationSettings(desiredAccuracy: level))
        guard let limit = level.acceptLimit else {
            #expect(filter.reason(Self.live(eph: 1e6 + 0.07)) == nil)
            return
        }
        _ = filter.receive(.gst(time: time(0), latitudeError: limit * 0.6, longitudeError: limit * 0.8, device: "a"))
        #expect(filter.reason(Self.live()) == nil)
        var worse = Self.live(eph: limit + 0.07)
        worse.time = time(10)
        #expect(
            filter.rejection(worse)
                == Rejection(reason: .accuracy, value: limit + 0.07, limit: limit, timestamp: time(10))
        )
    }

    @Test func `a 2D fix is too inaccurate for a level that requires 3D`() {
        var filter = LocationFilter(settings: LocationSettings(desiredAccuracy: .bestForNavigation))
        #expect(filter.rejection(fix(at: 0, mode: 2)) == Rejection(reason: .accuracy, timestamp: time(0)))
        filter.settings.desiredAccuracy = .best
        #expect(filter.reason(fix(at: 0, mode: 2)) == nil)
    }

    @Test func `without an accuracy a live fix passes only threeKilometers, and a file every level`() {
        for level in DesiredAccuracy.allCases {
            var filter = LocationFilter(settings: LocationSettings(desiredAccuracy: level))
            #expect(filter.reason(fix(at: 0, accuracy: nil)) == (level == .threeKilometers ? nil : .noAccuracy))
            #expect(filter.reason(point(at: 1)) == nil)
            filter.settings.maximumAccuracy = 50
            #expect(filter.reason(fix(at: 2, accuracy: nil)) == .noAccuracy)
            #expect(filter.reason(point(at: 3)) == .noAccuracy)
        }
    }

    @Test func `the maximum accuracy applies in addition to the level's limit`() {
        var filter = LocationFilter(settings: LocationSettings(maximumAccuracy: 8))
        #expect(filter.rejection(fix(at: 0, accuracy: 8.1))?.limit == 8)
        #expect(filter.reason(fix(at: 0, accuracy: 7.9)) == nil)
        filter.settings.maximumAccuracy = 100
        #expect(filter.rejection(fix(at: 1, accuracy: 31))?.limit == 30)
    }
}
