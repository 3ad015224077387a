import BackgroundFetch
import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// Checks that the scheduler performs as well as the simulations of the planner and of flex windows.
@Suite struct SchedulerSimulationTests {
    private static let start = FetchSimulation.start

    /// A day's credit pays for 8 fetches of 28 seconds. Seeds and totals are those of ``FreshnessTests``.
    @Test(arguments: SimulatedUser.habitual)
    func `over 84 days the scheduler is as fresh as the planner's simulation with 8 fetches a day`(
        user: SimulatedUser
    ) async throws {
        let (found, promised) = try await looks(of: user) { await $0.planned(runs: 8) }
        let comment: Comment = "\(found), promised \(promised)"
        #expect(found.share(within: 60) >= 0.95, comment)
        #expect(found.share(within: 60) >= promised.share(within: 60) - 0.01, comment)
        #expect(found.share(within: 15) >= 0.75, comment)
        #expect(found.share(within: 15) >= promised.share(within: 15) - 0.01, comment)
    }

    @Test(arguments: SimulatedUser.withoutHabit)
    func `over 84 days a user without a habit is at most 10 % worse off than with even spacing`(
        user: SimulatedUser
    ) async throws {
        let (found, even) = try await looks(of: user) { user in
            (0..<8).map { user.even(runs: 8, phase: Double($0) / 8) }.joined()
        }
        FreshnessTests.expect(found, noWorseThan: even, "\(user)")
    }

    /// Returns the freshness with the scheduler and with `other`, over all seeds.
    private func looks(
        of user: SimulatedUser,
        beside other: (FetchSimulation) async -> Freshness
    ) async throws -> (Freshness, Freshness) {
        var (found, others): ([Freshness], [Freshness]) = ([], [])
        for seed in FreshnessTests.seeds {
            let user = FetchSimulation(user, seed: seed)
            found.append(user.freshness(try await runs(for: user).compactMap(\.ended)))
            others.append(await other(user))
        }
        return (found.joined(), others.joined())
    }

    private func runs(for user: FetchSimulation) async throws -> [FetchRun] {
        let simulation = try await SchedulerSimulation(duration: 28)
        try await simulation.add("news", .minimum)
        for open in user.opens {
            try await simulation.advance(to: open)
            _ = try await simulation.scheduler.open("news")
        }
        let days = Dictionary(grouping: simulation.runs) { Int($0.began.timeIntervalSince(Self.start) / 86_400) }
        #expect(days.values.allSatisfy { $0.count <= 8 })
        #expect(simulation.runs.allSatisfy { $0.result == .newData })
        #expect(
            zip(simulation.runs, simulation.runs.dropFirst()).allSatisfy { $1.began.timeIntervalSince($0.began) >= 900 }
        )
        return simulation.runs
    }

    /// How the machine wakes for other reasons (``WakeupSimulation/others(seed:)``); every tenth may be an attach.
    enum Company: CaseIterable {
        case none, rides, ridesAndAttaching
    }

    /// `FETCH_DAYS=84` takes two minutes in a debug build; 14 days are enough to detect a regression.
    static let days = ProcessInfo.processInfo.environment["FETCH_DAYS"].flatMap { Int($0) } ?? 14

    @Test(arguments: Company.allCases)
    func `ten sources wake the machine at most 45 % as often as separate timers, 30 % with rides`(
        company: Company
    ) async throws {
        var generator = SeededGenerator(seed: 1)
        let intervals = WakeupSimulation.usual
        let simulation = try await SchedulerSimulation(duration: 2)
        let added = intervals.indices.map { ($0, generator.uniform(0, intervals[$0]) * 60) }.sorted { $0.1 < $1.1 }
        for (index, seconds) in added {
            try await simulation.advance(to: Self.start.addingTimeInterval(seconds))
            try await simulation.add("source\(index)", .custom(intervals[index] * 60))
        }
        let begin = Self.start.addingTimeInterval(21_600)
        try await simulation.advance(to: begin)
        let (wakeups, runs) = (simulation.wakeups, simulation.runs.count)
        let end = begin.addingTimeInterval(Double(Self.days) * 86_400)
        let others = WakeupSimulation.others(seed: 1).filter { (begin..<end).contains($0) }
        if company != .none {
            for (index, other) in others.enumerated() {
                try await simulation.advance(to: other)
                if company == .ridesAndAttaching, index % 10 == 0 {
                    try await simulation.attach()
                } else {
                    try await simulation.ride()
                }
            }
        }
        try await simulation.advance(to: end)
        let naive = WakeupSimulation.naive(intervals, seed: 1)
        let ownWakeups = Double(simulation.wakeups - wakeups) / Double(Self.days)
        let ownRuns = Double(simulation.runs.count - runs) / Double(Self.days)
        let comment: Comment = "\(naive), \(ownWakeups) wakeups and \(ownRuns) runs a day"
        #expect(ownWakeups <= (company == .none ? 0.45 : 0.3) * naive.wakeups, comment)
        #expect(ownRuns >= naive.runs / 1.2, comment)
    }
}
