import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import BackgroundFetch

/// Reading sources and plans; what changes the plans instead.
@Suite struct FetchReadingTests {
    @Test func `reading sources, plans and status neither plans nor arms a timer`() async throws {
        let journal = MemoryFetchJournal()
        let saved = try await FetchRig(journal: journal)
        try await saved.add("a", .custom(864_000))
        // With a habit, a new plan moves the deadline and with it the timer.
        for day in -28..<0 {
            let at = FetchRig.start.addingTimeInterval(Double(day) * 86_400 + 30_600)
            try await journal.save([.opened(["a"], FetchOpen(at: at, secondsFromGMT: 0))])
        }
        let rig = try await FetchRig(journal: journal)
        try await rig.clock.wait(forTimerAt: 864_000)
        rig.clock.advance(to: 820_000)
        let before = await rig.scheduler.armed
        _ = await rig.scheduler.list()
        _ = try await rig.scheduler.source("a")
        _ = await rig.scheduler.plan()
        _ = await rig.scheduler.refreshStatus()
        let after = await rig.scheduler.armed
        #expect(after.planEnd == before.planEnd)
        #expect(after.timer == before.timer)
        #expect(rig.seconds(before.planEnd) == 86_400)
        #expect(rig.seconds(before.timer) == 864_000)
    }

    @Test func `a plan ends when a run that exceeded its budget stops reducing it`() async throws {
        let rig = try await FetchRig(isDeclared: false)
        try await rig.add("a", .minimum)
        rig.clock.advance(to: 43_200)
        rig.origin.on("a") { () throws(FetchFailure) in throw FetchFailure("late", kind: .late) }
        _ = try await rig.scheduler.run("a", .manual)
        #expect(rig.seconds(await rig.scheduler.armed.planEnd) == 86_400)
        rig.clock.advance(to: 90_000)
        await rig.scheduler.apply(isAnyoneAttached: false, isDeclared: true)
        #expect(rig.seconds(await rig.scheduler.armed.planEnd) == 43_200 + 86_400)
    }

    @Test func `the end of a run is reported with the plan that follows from it`() async throws {
        let rig = try await FetchRig()
        try await rig.add("a", .minimum)
        #expect(try await rig.scheduler.source("a").runsPerDay == 8)
        async let run = rig.scheduler.run("a", .manual)
        try await rig.wait(forRuns: 1)
        #expect(await rig.scheduler.plannedRuns("a") == 48)
        _ = try await run
    }
}

extension FetchScheduler {
    /// When the plan of the source `a` ends, and when the timer fires.
    fileprivate var armed: (planEnd: Date?, timer: Date?) { (sources["a"]?.planEnd, timer?.at) }

    fileprivate func plannedRuns(_ name: String) -> Int? { sources[name]?.plannedRuns }
}
