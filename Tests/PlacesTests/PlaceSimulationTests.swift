import Places
import PlacesSimulation
import TestSupport
import Testing

/// Short versions of the simulations of `make bench-places`.
@Suite(.computing) struct PlaceSimulationTests {
    @Test(arguments: [true, false])
    func `standing near a boundary causes no pair of events`(reportsSpeed: Bool) {
        var (monitor, peers) = (0, 0)
        for outside in stride(from: -20.0, through: 20, by: 5) {
            let pairs = Trials.stand(outside: outside, radius: 50, hours: 2, reportsSpeed: reportsSpeed, seed: 1)
            monitor += pairs.monitor
            peers += pairs.peers
        }
        #expect(monitor == 0)
        #expect(peers > 100)
    }

    @Test(arguments: [1.4, 3, 8], [true, false])
    func `a visit of a circle of 20 m is found exactly once`(speed: Double, reportsSpeed: Bool) {
        var random = Randomness(seed: 3)
        for _ in 0..<60 {
            let events = Trials.visit(radius: 20, speed: speed, stay: 60, reportsSpeed: reportsSpeed, random: &random)
                .monitor
            #expect(events.enters.count == 1)
            #expect(events.leaves.count == 1)
            #expect(events.passes.isEmpty)
        }
    }

    @Test func `95 of 100 enters are decided within 3 s, and leaves within 6 s`() throws {
        var random = Randomness(seed: 5)
        var (enters, leaves): ([Double], [Double]) = ([], [])
        for _ in 0..<200 {
            let drive = Trials.latency(radius: 50, speed: 5, offset: random.uniform(0...25), random: &random)
            enters += drive.comparison.monitor.enters.map { $0 - drive.enter }
            leaves += drive.comparison.monitor.leaves.map { $0 - drive.leave }
        }
        try #require(enters.count == 200)
        try #require(leaves.count == 200)
        #expect(enters.sorted()[189] <= 3)
        #expect(leaves.sorted()[189] <= 6)
    }

    @Test func `no passage at 30 m/s with a fix every 10 s is missed`() {
        var random = Randomness(seed: 7)
        for _ in 0..<300 {
            let events = Trials.latency(
                radius: 30,
                speed: 30,
                offset: random.uniform(0...15),
                every: 10,
                random: &random
            )
            .comparison.monitor
            #expect(events.passes.count + events.enters.count == 1)
            #expect(events.leaves.count == events.enters.count)
        }
    }

    @Test func `stops of a bus line are announced in time, once, and for the right direction`() throws {
        let line = BusLine.drive(stops: 20, speed: 11, eta: 25, seed: 1)
        try #require(line.errors.count == 20)
        #expect(line.errors.map(abs).sorted()[17] <= 3)
        #expect(line.wrong == 0)
        #expect(line.repeated == 0)
        #expect(line.visits == 20)
    }
}
