import TestSupport
import Testing

/// What windows and riding along save against a timer for each of ten sources.
@Suite(.computing) struct WakeupTests {
    @Test(
        "Flex windows alone save 55 % of the wakeups",
        arguments: [WakeupSimulation.usual, WakeupSimulation.odd, WakeupSimulation.spread],
        [1] as [UInt64]
    )
    func windows(intervals: [Double], seed: UInt64) async {
        let naive = WakeupSimulation.naive(intervals, seed: seed)
        let coalesced = await WakeupSimulation.coalesced(intervals, seed: seed)
        #expect(coalesced.wakeups <= 0.45 * naive.wakeups, "\(naive), \(coalesced)")
        // They do not save by fetching less than a window allows.
        #expect(coalesced.runs >= naive.runs / 1.2, "\(naive), \(coalesced)")
    }

    @Test(
        "Where location, attaching, pushes and transfers are ridden along, 70 % of the wakeups for fetches alone are saved",
        arguments: [1] as [UInt64]
    )
    func riding(seed: UInt64) async {
        let naive = WakeupSimulation.naive(WakeupSimulation.usual, seed: seed)
        let others = WakeupSimulation.others(seed: seed)
        let riding = await WakeupSimulation.coalesced(WakeupSimulation.usual, seed: seed, riding: others)
        #expect(riding.wakeups <= 0.3 * naive.wakeups, "\(naive), \(riding)")
        #expect(riding.runs >= naive.runs / 1.2, "\(naive), \(riding)")
    }
}
