import TestSupport
import Testing

/// Wakeups saved by windows and rides, compared with a timer for each of ten sources.
@Suite(.computing) struct WakeupTests {
    @Test(
        arguments: [WakeupSimulation.usual, WakeupSimulation.odd, WakeupSimulation.spread],
        [1] as [UInt64]
    )
    func `flex windows alone save 55 % of the wakeups`(intervals: [Double], seed: UInt64) async {
        let naive = WakeupSimulation.naive(intervals, seed: seed)
        let coalesced = await WakeupSimulation.coalesced(intervals, seed: seed)
        #expect(coalesced.wakeups <= 0.45 * naive.wakeups, "\(naive), \(coalesced)")
        // The saving must not come from fetching less than the windows allow.
        #expect(coalesced.runs >= naive.runs / 1.2, "\(naive), \(coalesced)")
    }

    @Test(
        arguments: [1] as [UInt64]
    )
    func `riding along with other wakeups saves 70 % of the wakeups for fetches alone`(seed: UInt64) async {
        let naive = WakeupSimulation.naive(WakeupSimulation.usual, seed: seed)
        let others = WakeupSimulation.others(seed: seed)
        let riding = await WakeupSimulation.coalesced(WakeupSimulation.usual, seed: seed, riding: others)
        #expect(riding.wakeups <= 0.3 * naive.wakeups, "\(naive), \(riding)")
        #expect(riding.runs >= naive.runs / 1.2, "\(naive), \(riding)")
    }
}
