import BackgrounderAPI
import Foundation
import Places
import PlacesSimulation
import Testing

@Suite struct NeighbourhoodTests {
    /// An index that counts what it is asked for.
    private struct Index {
        var places: [Int64: PlaceDefinition]
        var watches: [PlaceWatch] = []
        var searches = 0
        var loads: [Int64] = []

        mutating func supply(_ monitor: inout PlaceMonitor, for fix: PlaceFix) throws {
            while let need = monitor.need(for: fix) {
                switch need {
                case .search(let search):
                    searches += 1
                    let found = try places.flatMap { id, place in
                        try Shape(place.shape).bounds.withoutAntimeridian.filter { box in
                            search.bounds.contains {
                                $0.minLatitude <= box.maxLatitude && box.minLatitude <= $0.maxLatitude
                                    && $0.minLongitude <= box.maxLongitude && box.minLongitude <= $0.maxLongitude
                            }
                        }.map { IndexedPlace(id: id, bounds: $0) }
                    }
                    monitor.complete(search, found: found)
                case .places(let ids):
                    loads += ids
                    monitor.load(
                        try ids.compactMap { id in
                            try places[id].map { try MonitoredPlace(id: id, $0, watches: watches) }
                        },
                        for: ids
                    )
                }
            }
        }
    }

    /// Drives and returns the decisions with and without an index.
    private static func compare(_ drive: Drive, _ index: inout Index, every interval: Double = 1) throws
        -> (found: [PlaceDecision], expected: [PlaceDecision])
    {
        var all = PlaceMonitor(watches: index.watches)
        var lazy = all
        let origin = try #require(Position(GroundPoint(0, 0).coordinate))
        all.complete(PlaceSearch(around: origin, radius: 1_000_000), found: [])
        all.load(try index.places.map { try MonitoredPlace(id: $0, $1, watches: index.watches) }, for: [])
        var result: (found: [PlaceDecision], expected: [PlaceDecision]) = ([], [])
        var receiver = Receiver(seed: 4)
        var fixes: [PlaceFix] = []
        drive.run(&receiver, every: interval) { _, _, fix in fixes.append(fix) }
        for fix in fixes {
            try index.supply(&lazy, for: fix)
            result.found += lazy.receive(fix)
            result.expected += all.receive(fix)
        }
        return result
    }

    @Test(arguments: [(12.0, 1.0), (30, 10)])
    func `the decisions are those of a monitor that knows all places`(speed: Double, interval: Double) throws {
        var random = Randomness(seed: 2)
        var index = Index(places: [:], watches: [.eta(25), .within(150)])
        for id in 0..<400 {
            let center = GroundPoint(random.uniform(-10_000...10_000), random.uniform(-2_000...2_000))
            index.places[Int64(id)] = Trials.circle(random.uniform(15...200), at: center)
        }
        var drive = Drive(from: GroundPoint(-9_000, 0))
        for east in stride(from: -8_000.0, through: 9_000, by: 1_000) {
            drive.move(to: GroundPoint(east, random.uniform(-900...900)), speed: speed * random.uniform(0.2...1))
        }
        let (found, expected) = try Self.compare(drive, &index, every: interval)
        #expect(expected.count > 60)
        #expect(found.count == expected.count)
        let different = zip(found, expected).first { $0 != $1 }
        #expect(different?.0 == different?.1)
        #expect(index.loads.count < 400)
        #expect(index.searches < 60)
    }

    @Test func `a place is not loaded before the machine comes near`() throws {
        var index = Index(places: [7: Trials.circle(50, at: GroundPoint(3_000, 0))])
        var drive = Drive(from: GroundPoint(0, 0))
        drive.move(to: GroundPoint(2_500, 0), speed: 10)
        #expect(try Self.compare(drive, &index).found.isEmpty)
        #expect(index.loads.isEmpty)
        drive.move(to: GroundPoint(3_500, 0), speed: 10)
        #expect(try Self.compare(drive, &index).found.map(\.event) == [.enter, .leave])
        #expect(index.loads == [7])
    }

    @Test func `a machine that stands searches once`() throws {
        var index = Index(places: [7: Trials.circle(50, at: GroundPoint(1_000, 0))])
        var drive = Drive(from: GroundPoint(0, 0))
        drive.stop(3_600)
        #expect(try Self.compare(drive, &index).found.isEmpty)
        #expect(index.searches == 1)
    }

    @Test func `a place that does not exist any more is forgotten`() throws {
        var index = Index(places: [7: Trials.circle(50)])
        var monitor = PlaceMonitor()
        var receiver = Receiver(seed: 1)
        let first = receiver.fix(at: 0, GroundPoint(0, 0), velocity: GroundPoint(0, 0))
        try index.supply(&monitor, for: first)
        #expect(monitor.receive(first).map(\.event) == [.enter])
        index.places = [:]
        monitor.placesChanged([7])
        let second = receiver.fix(at: 1, GroundPoint(0, 0), velocity: GroundPoint(0, 0))
        try index.supply(&monitor, for: second)
        #expect(monitor.receive(second).isEmpty)
        #expect(monitor.visits.isEmpty)
    }

    @Test func `a place of the state that cannot be loaded is forgotten`() throws {
        var index = Index(places: [7: Trials.circle(50)])
        var monitor = PlaceMonitor()
        var receiver = Receiver(seed: 1)
        let first = receiver.fix(at: 0, GroundPoint(0, 0), velocity: GroundPoint(0, 0))
        try index.supply(&monitor, for: first)
        #expect(monitor.receive(first).map(\.event) == [.enter])
        index.places = [:]
        monitor = PlaceMonitor(monitor.state, watches: [], now: first.timestamp, arrival: first.arrival)
        let second = receiver.fix(at: 1, GroundPoint(0, 0), velocity: GroundPoint(0, 0))
        try index.supply(&monitor, for: second)
        #expect(monitor.receive(second).isEmpty)
        #expect(monitor.visits.isEmpty)
    }

    @Test func `a place with a damaged box is loaded`() throws {
        var monitor = PlaceMonitor()
        var receiver = Receiver(seed: 1)
        let fix = receiver.fix(at: 0, GroundPoint(0, 0), velocity: GroundPoint(0, 0))
        guard case .search(let search) = monitor.need(for: fix) else {
            Issue.record("no search")
            return
        }
        let box = GeographicBounds(minLatitude: .nan, minLongitude: .nan, maxLatitude: .nan, maxLongitude: .nan)
        monitor.complete(search, found: [IndexedPlace(id: 7, bounds: box)])
        #expect(monitor.need(for: fix) == .places([7]))
        monitor.load([], for: [7])
        #expect(monitor.need(for: fix) == nil)
    }

    @Test func `a place that is added around a machine has been entered before`() throws {
        var index = Index(places: [:])
        var monitor = PlaceMonitor()
        var receiver = Receiver(seed: 1)
        for second in 0..<10 {
            let fix = receiver.fix(at: Double(second), GroundPoint(0, 0), velocity: GroundPoint(0, 0))
            try index.supply(&monitor, for: fix)
            #expect(monitor.receive(fix).isEmpty)
        }
        index.places = [1: Trials.circle(50)]
        monitor.placesChanged([])
        let fix = receiver.fix(at: 10, GroundPoint(0, 0), velocity: GroundPoint(0, 0))
        try index.supply(&monitor, for: fix)
        let found = monitor.receive(fix)
        #expect(found.map(\.event) == [.enter])
        #expect(found.map(\.initial) == [true])
    }
}
