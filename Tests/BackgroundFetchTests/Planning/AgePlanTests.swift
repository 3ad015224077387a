import TestSupport
import Testing

@testable import BackgroundFetch

@Suite(.computing) struct AgePlanTests {
    /// Returns the cost of a plan, computed from its definition.
    private func cost(_ rates: [Double], _ ends: [Int], since first: Double?, cap: Double) -> Double {
        var (total, last) = (0.0, first)
        for (slot, rate) in rates.enumerated() {
            if ends.contains(slot) { last = Double(slot) }
            total += rate * min(last.map { (Double(slot) + 0.5 - $0) * 5 } ?? .infinity, cap)
        }
        return total
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `the plan costs no more than the best of all plans`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let count = Int.random(in: 4...12, using: &generator)
        let rates = (0..<count).map { _ in Double(Int.random(in: 0...4, using: &generator)) }
        let spacing = Int.random(in: 1...3, using: &generator)
        let runs = Int.random(in: 1...4, using: &generator)
        let first = Bool.random(using: &generator) ? -Double(Int.random(in: 0...20, using: &generator)) : nil
        let cap = [20.0, 40, 240].randomElement(using: &generator)!
        var plan = AgePlan(rates: rates, runs: runs, spacing: Double(spacing) * 300, first: first)
        let ends = plan.ends(cap: cap)

        let places = (1..<count).filter { first == nil || Double($0) - first! >= Double(spacing) }
        var best = (cost: Double.infinity, ends: [Int]())
        for set in 1..<(1 << places.count) where set.nonzeroBitCount <= runs {
            let chosen = places.indices.filter { set >> $0 & 1 == 1 }.map { places[$0] }
            guard zip(chosen, chosen.dropFirst()).allSatisfy({ $1 - $0 >= spacing }) else { continue }
            let cost = cost(rates, chosen, since: first, cap: cap)
            if cost < best.cost - 1e-9 { best = (cost, chosen) }
        }
        #expect(zip(ends, ends.dropFirst()).allSatisfy { $1 - $0 >= spacing })
        #expect(ends.allSatisfy { places.contains($0) })
        let own = ends.isEmpty ? .infinity : cost(rates, ends, since: first, cap: cap)
        #expect(own == best.cost || abs(own - best.cost) < 1e-6, "\(rates): \(ends) \(own), \(best)")
    }

    @Test func `planning 48 runs takes under a twentieth of the steps of trying all pairs of slots`() {
        var generator = SeededGenerator(seed: 1)
        let rates = (0..<288).map { _ in Double.random(in: 0...1, using: &generator) }
        var plan = AgePlan(rates: rates, runs: 48, spacing: 900, first: -10)
        #expect(plan.ends(cap: 40).count == 48)
        #expect(plan.steps < 48 * 288 * 288 / 2 / 20, "\(plan.steps)")
    }
}
