import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import BackgroundFetch

/// When sources run by themselves, in virtual time.
@Suite struct FetchTimingTests {
    @Test func `a lone source runs at the end of its window, after its interval has passed`() async throws {
        let rig = try await FetchRig()
        try await rig.add("a", .custom(3600))
        var source = try await rig.scheduler.source("a")
        #expect(rig.seconds(source.next) == 3600)
        #expect(source.updated == nil)
        // The window of an hour's interval is a fifth of it.
        try await rig.sleep(until: 4320)
        let run = try #require(try await rig.wait(forRuns: 1).first)
        #expect(run.trigger == .due)
        #expect(run.result == .newData)
        #expect(rig.seconds(run.began) == 4320)
        source = try await rig.scheduler.source("a")
        #expect(rig.seconds(source.next) == 7920)
        #expect(source.unseen == 1)
        try await rig.clock.wait(forTimerAt: 8640)
        #expect(rig.clock.timers.count == 1)
    }

    @Test func `the first deadline and other wakeups run every source whose window is open`() async throws {
        let rig = try await FetchRig()
        try await rig.add("a", .custom(20_000))
        try await rig.add("b", .custom(22_000))
        try await rig.add("c", .custom(26_000))
        try await rig.add("d", .never)
        try await rig.sleep(until: 24_000)
        var runs = try await rig.wait(forRuns: 2)
        #expect(Set(runs.map { "\($0.source) \($0.trigger)" }) == ["a due", "b ride"])
        try await rig.clock.wait(forTimerAt: 31_200)
        rig.clock.advance(to: 25_900)
        rig.scheduler.ride()
        rig.clock.advance(to: 26_100)
        rig.scheduler.ride()
        runs = try await rig.wait(forRuns: 3)
        #expect(runs[2].source == "c")
        #expect(runs[2].trigger == .ride)
        #expect(rig.seconds(runs[2].began) == 26_100)
    }

    @Test func `no timer is armed when nothing is due`() async throws {
        let rig = try await FetchRig()
        try await rig.add("a", .custom(60))
        try await rig.clock.wait(forTimerAt: 120)
        _ = try await rig.scheduler.change("a", FetchSourceChange(interval: .never))
        try await rig.clock.waitForNoTimer()
        #expect(try await rig.scheduler.source("a").why == "the interval is never")
    }

    @Test func `four fetches run concurrently, one per host, and a user's request ignores both limits`() async throws {
        let rig = try await FetchRig()
        let gate = Gate()
        for name in ["a", "b", "c", "d", "e", "f"] {
            rig.origin.on(name) {
                await gate.pass()
                return FetchReply(.unchanged, status: 304)
            }
            try await rig.add(name, .custom(60), host: ["a", "b"].contains(name) ? "one" : name)
        }
        try await rig.sleep(until: 120)
        try await rig.origin.wait(forRequests: 4)
        #expect(Set(rig.origin.asked.map(\.name)) == ["a", "c", "d", "e"])
        async let run = rig.scheduler.run("b", .simulate)
        try await rig.origin.wait(forRequests: 5)
        gate.open()
        #expect(try await run.trigger == .simulate)
        try await rig.wait(forRuns: 6)
        #expect(rig.origin.mostOpen == 5)
        #expect(rig.origin.asked.count == 6)
    }

    @Test(arguments: [(7200.0, 7200.0), (1e9, 86_400), (5, 600)])
    func `a server's freshness delays an automatic fetch by at most a day`(
        freshness: Double,
        seconds: Double
    ) async throws {
        let rig = try await FetchRig()
        rig.origin.on("a") { FetchReply(.unchanged, status: 304, freshness: freshness) }
        try await rig.add("a", .custom(600))
        let run = try await rig.scheduler.run("a", .manual)
        #expect(run.result == .noData)
        #expect(run.status == 304)
        #expect(rig.seconds(try await rig.scheduler.source("a").next) == seconds)
    }

    @Test func `the retry delay doubles up to six hours and is never shorter than the interval`() async throws {
        let rig = try await FetchRig()
        rig.origin.on("a") { () throws(FetchFailure) in throw FetchFailure("no", status: 500) }
        try await rig.add("a", .custom(60))
        var waits: [Double] = []
        for count in 1...12 {
            _ = try await rig.scheduler.run("a", .manual)
            let source = try await rig.scheduler.source("a")
            #expect(source.failures == count)
            waits.append(try #require(rig.seconds(source.next)))
        }
        #expect(waits == [60, 120, 240, 480, 960, 1920, 3840, 7680, 15_360, 21_600, 21_600, 21_600])

        let quick = try await FetchRig(jitter: 0)
        quick.origin.on("a") { () throws(FetchFailure) in throw FetchFailure("no", status: 503, retryAfter: 900) }
        try await quick.add("a", .custom(60))
        _ = try await quick.scheduler.run("a", .manual)
        let refused = try await quick.scheduler.source("a")
        #expect(quick.seconds(refused.next) == 900)
        #expect(refused.why?.hasPrefix("waiting before the next attempt, as the server requested") == true)
        quick.origin.on("a") { () throws(FetchFailure) in throw FetchFailure("no") }
        try await quick.add("b", .custom(60))
        quick.origin.on("b") { () throws(FetchFailure) in throw FetchFailure("no") }
        _ = try await quick.scheduler.run("b", .manual)
        #expect(quick.seconds(try await quick.scheduler.source("b").next) == 60)
    }

    @Test func `times recorded by a clock that was years ahead do not delay fetches once it is right`() async throws {
        let wrong = try await FetchRig()
        wrong.clock.advance(to: 1e8)
        try await wrong.add("a", .custom(600))
        try await wrong.add("b", .custom(600))
        wrong.origin.on("a") { () throws(FetchFailure) in throw FetchFailure("no", status: 503, retryAfter: 900) }
        wrong.origin.on("b") { FetchReply(.unchanged, status: 304) }
        for name in ["a", "b"] { _ = try await wrong.scheduler.run(name, .manual) }
        let rig = try await FetchRig(journal: wrong.journal)
        #expect(rig.seconds(try await rig.scheduler.source("a").next) == 900)
        #expect(rig.seconds(try await rig.scheduler.source("b").next) == 600)
        try await rig.sleep(until: 720)
        #expect(try await rig.wait(forRuns: 1).map(\.source) == ["b"])
    }

    @Test func `being offline does not count as a failure, and a source that is gone is switched off`() async throws {
        let rig = try await FetchRig()
        rig.origin.on("a") { () throws(FetchFailure) in throw FetchFailure("no network", kind: .offline) }
        rig.origin.on("b") { () throws(FetchFailure) in throw FetchFailure("gone", kind: .gone, status: 410) }
        for name in ["a", "b"] {
            try await rig.add(name, .custom(600))
            #expect(try await rig.scheduler.run(name, .manual).result == .failed)
        }
        let offline = try await rig.scheduler.source("a")
        #expect(offline.failures == 0)
        #expect(rig.seconds(offline.next) == 600)
        #expect(offline.state == .active)
        let gone = try await rig.scheduler.source("b")
        #expect(gone.state == .off)
        #expect(gone.refresh == .available)
        #expect(gone.next == nil)
        #expect(gone.why?.contains("gone for good") == true)
        _ = try await rig.scheduler.refresh(RefreshChange(enabled: true, source: "b"))
        #expect(try await rig.scheduler.source("b").state == .active)
    }

    @Test func `planned runs start on time, and one is at most 15 minutes before the user's usual open`() async throws {
        let journal = MemoryFetchJournal()
        let saved = try await FetchRig(journal: journal)
        try await saved.add("a", .minimum)
        // Four weeks of opens at 8:30.
        for day in -28..<0 {
            let open = FetchOpen(
                at: FetchRig.start.addingTimeInterval(Double(day) * 86_400 + 30_600),
                secondsFromGMT: 0
            )
            try await journal.save([.opened(["a"], open)])
        }
        let rig = try await FetchRig(journal: journal)
        let plan = await rig.scheduler.plan()
        let before = plan.filter { (rig.seconds($0.at) ?? 0) <= 30_600 }
        let last = try #require(before.last.flatMap { rig.seconds($0.at) })
        #expect(last > 30_600 - 900, "\(plan)")
        let first = try #require(plan.first.flatMap { rig.seconds($0.at) })
        try await rig.sleep(until: first)
        let run = try await rig.wait(forRuns: 1)[0]
        #expect(run.trigger == .predicted)
        #expect(rig.seconds(run.began) == first)
        #expect((rig.seconds(try await rig.scheduler.source("a").next) ?? 0) >= first + 900)
    }

    @Test func `after the clock changes a new plan covers only the time from then on`() async throws {
        let rig = try await FetchRig()
        try await rig.add("a", .minimum)
        let first = await rig.scheduler.plan()
        #expect(first.count > 8)
        #expect(first.allSatisfy { $0.why.contains("evenly spaced") })
        rig.clock.advance(to: 43_200)
        await rig.scheduler.clockChanged()
        let second = await rig.scheduler.plan()
        #expect(second.allSatisfy { (rig.seconds($0.at) ?? 0) >= 43_200 })
        #expect(second != first)
    }
}

/// Switching sources off and on, and the effect of attached clients.
@Suite struct FetchRefreshTests {
    @Test func `once a day's penalty is over, a new plan is made and the timer follows it`() async throws {
        let rig = try await FetchRig()
        let gate = Gate()
        rig.origin.on("a") { () throws(FetchFailure) in
            await gate.pass()
            throw FetchFailure("it was broken off", kind: .cancelled)
        }
        try await rig.add("a", .minimum)
        async let late = rig.scheduler.run("a", .simulate)
        try await rig.sleep(until: 25)
        try await rig.sleep(until: 30)
        #expect(try await late.result == .failed)
        rig.origin.on("a") { FetchReply(.content(Data("x".utf8), mediaType: nil), status: 200, isSurelyNew: true) }
        for time in [43_185.0, 86_370, 86_400] { try await rig.sleep(until: time) }
        try await rig.clock.wait(forTimerAt: 86_430)
        let penalized = try await rig.scheduler.source("a")
        #expect(penalized.runsPerDay == 2 && rig.seconds(penalized.next) == 129_540)
        rig.clock.advance(to: 86_440)
        try await rig.clock.waitForTimer()
        let source = try await rig.scheduler.source("a")
        let next = try #require(source.next).timeIntervalSince(FetchRig.start)
        #expect(source.runsPerDay == 4)
        #expect(next < 120_000)
        try await rig.clock.wait(forTimerAt: next)
    }

    @Test func `an undeclared mode pauses while no client is attached and resumes when one attaches`() async throws {
        let rig = try await FetchRig(isDeclared: false)
        try await rig.add("a", .custom(60))
        let source = try await rig.scheduler.source("a")
        #expect(source.refresh == .restricted)
        #expect(source.next == nil)
        #expect(rig.clock.timers.isEmpty)
        rig.clock.advance(to: 1000)
        await rig.scheduler.apply(isAnyoneAttached: true, isDeclared: false)
        let runs = try await rig.wait(forRuns: 1)
        #expect(runs[0].trigger == .due)
        await rig.scheduler.apply(isAnyoneAttached: false, isDeclared: false)
        try await rig.clock.waitForNoTimer()
    }

    @Test func `a disabled source runs only for its user, and one off until the next open returns then`() async throws {
        let rig = try await FetchRig()
        try await rig.add("a", .custom(60))
        try await rig.add("b", .custom(60))
        let reply = try await rig.scheduler.refresh(RefreshChange(enabled: false, source: "a"))
        #expect(reply.status == .available)
        #expect(reply.sources.map(\.status) == [.denied, .available])
        await #expect(throws: FetchError.self) { try await rig.scheduler.run("a", .push) }
        #expect(try await rig.scheduler.run("a", .manual).result == .newData)
        _ = try await rig.scheduler.refresh(RefreshChange(enabled: false, source: "b", untilOpen: true))
        try await rig.clock.waitForNoTimer()
        // Both survive a restart.
        let again = try await FetchRig(journal: rig.journal)
        #expect(try await again.scheduler.source("b").refresh == .denied)
        _ = try await again.scheduler.open("b")
        #expect(try await again.scheduler.source("b").refresh == .available)
        #expect(try await again.scheduler.source("a").refresh == .denied)
        let all = try await again.scheduler.refresh(RefreshChange(enabled: false))
        #expect(all.status == .denied)
        #expect(all.sources.map(\.status) == [.denied, .denied])
        try await again.clock.waitForNoTimer()
    }

    @Test func `attaching marks all items as seen and switches sources on that were off until the next open`()
        async throws
    {
        let rig = try await FetchRig()
        try await rig.add("a", .custom(3600))
        _ = try await rig.scheduler.run("a", .manual)
        _ = try await rig.scheduler.refresh(RefreshChange(enabled: false, source: "a", untilOpen: true))
        #expect(try await rig.scheduler.source("a").unseen == 1)
        await rig.scheduler.apply(isAnyoneAttached: true, isDeclared: true)
        let source = try await rig.scheduler.source("a")
        #expect(source.unseen == 0)
        #expect(source.refresh == .available)
        #expect(rig.journal.saved.opens["a"]?.map(\.at) == [FetchRig.start])
        // A second open at the same time is not recorded.
        _ = try await rig.scheduler.open("a")
        #expect(rig.journal.saved.opens["a"]?.count == 1)
    }
}
