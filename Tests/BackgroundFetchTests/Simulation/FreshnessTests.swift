import BackgroundFetch
import Foundation
import TestSupport
import Testing

/// How fresh 8 planned fetches a day keep the content for simulated users: 84 days, the first 14 for learning.
@Suite(.computing) struct FreshnessTests {
    static let runs = 8
    /// `FETCH_SEEDS=40` gives the figures of the README; a few seeds are enough to detect a regression.
    static let seeds = 1...UInt64(ProcessInfo.processInfo.environment["FETCH_SEEDS"] ?? "2")!

    @Test(
        arguments: SimulatedUser.habitual
    )
    func `95 % of a habitual user's opens find content under 60 minutes old, and 75 % under 15`(user: SimulatedUser)
        async
    {
        let looks = await Self.each { await FetchSimulation(user, seed: $0).planned(runs: Self.runs) }.joined()
        #expect(looks.share(within: 60) >= 0.95, "\(user): \(looks)")
        #expect(looks.share(within: 15) >= 0.75, "\(user): \(looks)")
    }

    @Test(
        arguments: SimulatedUser.withoutHabit
    )
    func `a user without a habit is at most 10 % worse off than with even spacing`(user: SimulatedUser) async {
        let planned = await Self.each { await FetchSimulation(user, seed: $0).planned(runs: Self.runs) }.joined()
        let even = await Self.each { seed in
            let simulation = FetchSimulation(user, seed: seed)
            return (0..<8).map { simulation.even(runs: Self.runs, phase: Double($0) / 8) }.joined()
        }.joined()
        Self.expect(planned, noWorseThan: even, "\(user)")
    }

    /// Compares mean age, 90th percentile and both shares.
    static func expect(_ found: Freshness, noWorseThan even: Freshness, _ user: String) {
        let comment: Comment = "\(user): \(found), even \(even)"
        #expect(found.mean <= 1.1 * even.mean, comment)
        #expect(found.percentile(0.9) <= 1.1 * even.percentile(0.9), comment)
        #expect(found.share(within: 15) >= even.share(within: 15) / 1.1, comment)
        #expect(found.share(within: 60) >= even.share(within: 60) / 1.1, comment)
    }

    @Test func `changes to and from summer time neither shift nor lose a day`() async {
        // Central Europe in 2026: 29 March and 25 October.
        let zone = LocalZone { date in
            (1_774_746_000..<1_792_890_000).contains(date.timeIntervalSince1970) ? 7200 : 3600
        }
        let looks = await Self.each { await FetchSimulation(.noon, seed: $0, zone: zone).planned(runs: Self.runs) }
            .joined()
        #expect(looks.share(within: 60) >= 0.95, "\(looks)")
        #expect(looks.share(within: 15) >= 0.75, "\(looks)")
    }

    /// Runs `body` for all seeds in parallel and returns the results in the order of the seeds.
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
