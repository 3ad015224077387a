import PlacesSimulation
import TestSupport
import Testing

/// Short versions of the runs of `make bench-places`.
@Suite(.computing) struct RouteSimulationTests {
    private func runs(_ count: UInt64, _ conditions: BusRun.Conditions) -> BusRun.Result {
        (0..<count).reduce(into: BusRun.Result()) { $0 += BusRun.run(stops: 12, eta: 25, conditions, seed: $1) }
    }

    private func expectNoFault(_ result: BusRun.Result) {
        #expect(result.wrong == 0)
        #expect(result.repeated == 0)
        #expect(result.missed == 0)
    }

    @Test func `stops of city routes are announced in time, once, and none is missed`() throws {
        var conditions = BusRun.Conditions()
        conditions.jumps = 0
        let result = runs(12, conditions)
        expectNoFault(result)
        #expect(result.stops > 120)
        let errors = result.errors.map(abs).sorted()
        try #require(errors.count > 80)
        #expect(errors[errors.count * 9 / 10] <= 3)
    }

    @Test func `jumps of the position, gaps and restarts cause no fault`() {
        var conditions = BusRun.Conditions()
        conditions.gaps = 6
        conditions.restarts = 6
        expectNoFault(runs(10, conditions))
    }

    @Test func `a diversion skips its stop`() {
        var conditions = BusRun.Conditions()
        conditions.drive.diversion = true
        let result = runs(10, conditions)
        expectNoFault(result)
        #expect(result.skips > 5)
    }

    @Test func `a bus that is first seen on its way is followed`() {
        var conditions = BusRun.Conditions()
        conditions.startsLate = true
        expectNoFault(runs(10, conditions))
    }
}
