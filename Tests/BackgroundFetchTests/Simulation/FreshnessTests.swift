import BackgroundFetch
import Foundation
import TestSupport
import Testing

/// What 8 planned fetches a day are worth to simulated users over 84 days, of which the first 14 are for learning.
@Suite(.computing) struct FreshnessTests {
    static let runs = 8
    /// `FETCH_SEEDS=40` gives the figures of the README; a few are enough to see that something broke.
    static let seeds = 1...UInt64(ProcessInfo.processInfo.environment["FETCH_SEEDS"] ?? "2")!

    @Test(
        "95 % of a habitual user's looks find content of under 60 minutes, 75 % of under 15",
        arguments: SimulatedUser.habitual
    )
    func habitual(user: SimulatedUser) async {
        let looks = await Self.each { await FetchSimulation(user, seed: $0).planned(runs: Self.runs) }.joined()
        #expect(looks.share(within: 60) >= 0.95, "\(user): \(looks)")
        #expect(looks.share(within: 15) >= 0.75, "\(user): \(looks)")
    }

    @Test(
        "Who has no habit is never more than 10 % worse off than with even spacing",
        arguments: SimulatedUser.withoutHabit
    )
    func withoutHabit(user: SimulatedUser) async {
        let planned = await Self.each { await FetchSimulation(user, seed: $0).planned(runs: Self.runs) }.joined()
        let even = await Self.each { seed in
            let simulation = FetchSimulation(user, seed: seed)
            return (0..<8).map { simulation.even(runs: Self.runs, phase: Double($0) / 8) }.joined()
        }.joined()
        Self.expect(planned, noWorseThan: even, "\(user)")
    }

    /// By mean age, 90th percentile and both shares.
    static func expect(_ found: Freshness, noWorseThan even: Freshness, _ user: String) {
        let comment: Comment = "\(user): \(found), even \(even)"
        #expect(found.mean <= 1.1 * even.mean, comment)
        #expect(found.percentile(0.9) <= 1.1 * even.percentile(0.9), comment)
        #expect(found.share(within: 15) >= even.share(within: 15) / 1.1, comment)
        #expect(found.share(within: 60) >= even.share(within: 60) / 1.1, comment)
    }

    @Test("Clocks that change to summer time and back neither shift nor lose a day")
    func daylightSaving() async {
        // Central Europe in 2026: 29 March and 25 October; a year that begins in January has both.
        let zone = LocalZone { date in
            (1_774_746_000..<1_792_890_000).contains(date.timeIntervalSince1970) ? 7200 : 3600
        }
        let looks = await Self.each { await FetchSimulation(.noon, seed: $0, zone: zone).planned(runs: Self.runs) }
            .joined()
        #expect(looks.share(within: 60) >= 0.95 && looks.share(within: 15) >= 0.75, "\(looks)")
    }

    /// The runs of all seeds.
    private static func each(_ body: @escaping @Sendable (UInt64) async -> Freshness) async -> [Freshness] {
        await withTaskGroup(of: (UInt64, Freshness).self) { group in
            for seed in seeds { group.addTask { (seed, await body(seed)) } }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}

extension [Freshness] {
    func joined() -> Freshness { Freshness(ages: flatMap(\.ages)) }
}
