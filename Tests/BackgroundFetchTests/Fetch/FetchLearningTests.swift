import BackgroundFetch
import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// How earlier runs affect the planning of later ones.
@Suite struct FetchLearningTests {
    @Test(arguments: [FetchFailure.Kind.offline, .cancelled])
    func `an offline or cancelled run does not count as a quick one`(
        kind: FetchFailure.Kind
    ) async throws {
        let rig = try await FetchRig()
        try await rig.add("a", .minimum)
        #expect(try await rig.scheduler.source("a").runsPerDay == 8)
        rig.origin.on("a") { () throws(FetchFailure) in throw FetchFailure("no", kind: kind) }
        for _ in 0..<3 { _ = try await rig.scheduler.run("a", .manual) }
        #expect(try await rig.scheduler.source("a").runsPerDay == 8)
        #expect(rig.journal.saved.sources[0].state.durations.isEmpty)
        rig.origin.on("a") { FetchReply(.unchanged, status: 304) }
        _ = try await rig.scheduler.run("a", .manual)
        #expect(try await rig.scheduler.source("a").runsPerDay == 48)
    }

    @Test func `a feed's TTL applies until the feed or its server states another`() async throws {
        let rig = try await FetchRig()
        _ = try await rig.scheduler.add(FetchDefinition(name: "a", url: "http://a/", interval: .custom(600)))
        func give(_ channel: String) {
            let feed = "<rss version=\"2.0\"><channel><title>t</title>\(channel)</channel></rss>"
            rig.origin.on("a") { FetchReply(.content(Data(feed.utf8), mediaType: nil), status: 200) }
        }
        func next() async throws -> Double? {
            _ = try await rig.scheduler.run("a", .manual)
            return rig.seconds(try await rig.scheduler.source("a").next)
        }
        give("<ttl>60</ttl>")
        #expect(try await next() == 3600)
        // First the same bytes, then a 304.
        #expect(try await next() == 3600)
        rig.origin.on("a") { FetchReply(.unchanged, status: 304) }
        #expect(try await next() == 3600)
        rig.origin.on("a") { FetchReply(.unchanged, status: 304, freshness: 7200) }
        #expect(try await next() == 7200)
        give("<ttl>30</ttl>")
        #expect(try await next() == 1800)
        give("")
        #expect(try await next() == 600)
    }

    @Test func `no run is planned while the server declares the content fresh`() async throws {
        let journal = MemoryFetchJournal()
        let saved = try await FetchRig(journal: journal)
        try await saved.add("a", .minimum)
        // Four weeks of opens at 8:30.
        for day in -28..<0 {
            let at = FetchRig.start.addingTimeInterval(Double(day) * 86_400 + 30_600)
            try await journal.save([.opened(["a"], FetchOpen(at: at, secondsFromGMT: 0))])
        }
        let rig = try await FetchRig(journal: journal)
        func planned() async -> [Double] { await rig.scheduler.plan().compactMap { rig.seconds($0.at) } }
        func gaps(_ plan: [Double]) -> [Double] { zip(plan, plan.dropFirst()).map { $1 - $0 } }
        // Each run has new data, so that the number of runs stays the same.
        func give(freshness: Double?) {
            rig.origin.on("a") {
                FetchReply(.content(Data(), mediaType: nil), status: 200, freshness: freshness, isSurelyNew: true)
            }
        }
        give(freshness: nil)
        _ = try await rig.scheduler.run("a", .manual)
        #expect(gaps(await planned()).contains { $0 < 7200 })
        give(freshness: 7200)
        _ = try await rig.scheduler.run("a", .manual)
        let plan = await planned()
        #expect((plan.first ?? 0) >= 7200, "\(plan)")
        #expect(gaps(plan).allSatisfy { $0 >= 7200 - 60 }, "\(plan)")
        #expect(plan.contains { (30_600 - 900...30_600).contains($0) }, "\(plan)")
        // Each planned run of the day takes place.
        let day = plan.filter { $0 < 86_400 }
        for (count, at) in day.enumerated() {
            try await rig.clock.advance(toTimerAt: at)
            #expect(rig.seconds(try await rig.wait(forRuns: count + 3)[count + 2].began) == at)
        }
        give(freshness: nil)
        _ = try await rig.scheduler.run("a", .manual)
        #expect(gaps(await planned()).contains { $0 < 7200 })
    }

    @Test func `runs of a fixed interval are not recorded as planned runs`() async throws {
        let rig = try await FetchRig()
        try await rig.add("a", .custom(60))
        try await rig.sleep(until: 120)
        try await rig.wait(forRuns: 1)
        _ = try await rig.scheduler.source("a")
        #expect(rig.journal.saved.sources[0].state.automaticRuns.isEmpty)
    }
}
