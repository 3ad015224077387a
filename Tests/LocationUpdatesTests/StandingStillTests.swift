import BackgrounderAPI
import CGPS
import Foundation
import LocationUpdates
import TestSupport
import Testing

/// The distance filter with a noisy receiver: it adds no movement at rest and loses no distance on the way.
@Suite(.computing) struct StandingStillTests {
    static let place = (latitude: 48.0, longitude: 11.0)
    private static let metresPerDegreeEast = 74_600.0

    /// The error of a receiver: on each axis a first-order Gauss-Markov process with the standard deviation `deviation`
    /// (metres) and the correlation time `memory` (seconds).
    struct Noise {
        private var random: SeededGenerator
        private let keep: Double
        private let innovation: Double
        private(set) var east: Double
        private(set) var north: Double

        init(seed: UInt64, deviation: Double = 5, memory: Double = 60) {
            random = SeededGenerator(seed: seed)
            keep = exp(-1 / memory)
            innovation = deviation * (1 - keep * keep).squareRoot()
            east = deviation * Self.normal(&random)
            north = deviation * Self.normal(&random)
        }

        mutating func advance() {
            east = keep * east + innovation * Self.normal(&random)
            north = keep * north + innovation * Self.normal(&random)
        }

        static func normal(_ random: inout SeededGenerator) -> Double {
            (-2 * log(.random(in: Double.leastNonzeroMagnitude..<1, using: &random))).squareRoot()
                * cos(2 * .pi * .random(in: 0..<1, using: &random))
        }
    }

    /// A receiver that is `north` metres north of the place at each second, plus noise.
    struct Receiver {
        var seed: UInt64
        var deviation = 5.0
        /// In SKY reports; gpsd's model derives eph from it. With `nil`, eph is the true 63 % circle of the noise.
        var hdop: Double? = 1
        var speed: (@Sendable (_ second: Int) -> Double?) = { _ in nil }
        var north: (@Sendable (_ second: Int) -> Double) = { _ in 0 }

        func reports(seconds: Int) -> [Report] {
            var noise = Noise(seed: seed, deviation: deviation)
            var reports: [Report] = []
            for second in 0..<seconds {
                if let hdop { reports.append(.sky(hdop: hdop, device: "/dev/gps0")) }
                var sample = fix(at: Double(second), accuracy: nil, speed: speed(second))
                sample.latitude = place.latitude + (north(second) + noise.north) / metresPerDegree
                sample.longitude = place.longitude + noise.east / metresPerDegreeEast
                sample.eph = hdop.map { 19 * $0 } ?? deviation * 2.0.squareRoot() + 0.001
                reports.append(.fix(sample))
                noise.advance()
            }
            return reports
        }
    }

    /// Returns the locations that a distance filter of 10 m delivers.
    private func deliver(_ reports: [Report], jitterGuard: Bool = true) -> [Location] {
        var filter = LocationFilter(settings: LocationSettings(distanceFilter: 10, jitterGuard: jitterGuard))
        return reports.compactMap { if case .accepted(let location) = filter.receive($0) { location } else { nil } }
    }

    private func length(_ points: [Location]) -> Double {
        zip(points, points.dropFirst()).reduce(0) { sum, pair in
            sum + earth_distance(pair.0.latitude, pair.0.longitude, pair.1.latitude, pair.1.longitude)
        }
    }

    private static let speedAtRest: @Sendable (Int) -> Double? = { second in 0.1 + 0.3 * Double(second % 7) / 7 }

    @Test(
        arguments: [0.8, 1.0, 1.5, 2.5] as [Double?],
        [nil, speedAtRest]
    )
    func `an hour at rest gives at most 5 points with the jitter guard and more than 20 without it`(
        hdop: Double?,
        speed: (@Sendable (Int) -> Double?)?
    ) {
        for seed in 1...12 as ClosedRange<UInt64> {
            let reports = Receiver(seed: seed, hdop: hdop, speed: speed ?? { _ in nil }).reports(seconds: 3600)
            #expect(deliver(reports).count <= 5, "seed \(seed)")
            // Without the guard, noise looks like a walk around the block.
            #expect(deliver(reports, jitterGuard: false).count > 20, "seed \(seed)")
        }
    }

    @Test func `a receiver that states its exact errors gives at most 5 points an hour at rest on average`() {
        let counts = (1...40 as ClosedRange<UInt64>).map {
            deliver(Receiver(seed: $0, hdop: nil).reports(seconds: 3600)).count
        }
        #expect(Double(counts.reduce(0, +)) / Double(counts.count) <= 5, "\(counts)")
        #expect(counts.max() ?? 0 <= 12, "\(counts)")
    }

    @Test(
        arguments: [1.4, 15, 20, 30],
        [true, false]
    )
    func `a straight drive or walk keeps at least 97 % of its length, with or without reported speeds`(
        speed: Double,
        tellsSpeed: Bool
    ) throws {
        for (seed, hdop) in zip(1...8 as ClosedRange<UInt64>, [1, nil, 0.8, 1.5, 1, nil, 0.8, 1.5] as [Double?]) {
            var receiver = Receiver(seed: seed, hdop: hdop)
            receiver.north = { second in speed * Double(second) }
            if tellsSpeed { receiver.speed = { second in speed + 0.2 * Double(second % 5 - 2) } }
            let points = deliver(receiver.reports(seconds: 3600))
            let truth = speed * 3599
            #expect(length(points) >= 0.97 * truth, "seed \(seed): \(length(points)) of \(truth) m")
            let last = try #require(points.last)
            #expect((last.latitude - Self.place.latitude) * metresPerDegree >= 0.97 * truth)
        }
    }

    @Test func `a walk after an hour at rest keeps at least 97 % of its length`() {
        var receiver = Receiver(seed: 3)
        receiver.north = { second in second < 3600 ? 0 : 1.4 * Double(second - 3600) }
        receiver.speed = { second in second < 3600 ? 0.1 : 1.4 }
        let points = deliver(receiver.reports(seconds: 5400))
        let walk = points.drop { $0.timestamp < time(3600) }
        #expect(points.count - walk.count <= 5)
        #expect(length(Array(walk)) >= 0.97 * 1.4 * 1799)
        #expect(walk.first.map { $0.timestamp < time(3630) } == true)
    }
}
