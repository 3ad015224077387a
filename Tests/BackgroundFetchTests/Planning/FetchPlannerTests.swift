import BackgroundFetch
import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@Suite(.computing) struct FetchPlannerTests {
    private let monday = FetchSimulation.start

    private func at(_ day: Int, _ hour: Double) -> Date {
        monday.addingTimeInterval(Double(day) * 86_400 + hour * 3600)
    }

    private func plan(_ opens: [Date], day: Int, runs: Int = 8, lastEnd: Date? = nil, hour: Double = 0) -> [PlannedSlot]
    {
        let records = opens.map { FetchOpen(at: $0, secondsFromGMT: 0) }
        let now = at(day, hour)
        let habit = UsageHabit(opens: records, now: now, zone: .fixed(0))
        return FetchPlanner.plan(
            habit,
            from: now,
            until: now.addingTimeInterval(86_400),
            runs: runs,
            lastEnd: lastEnd,
            zone: .fixed(0)
        )
    }

    @Test func `a run ends within 10 minutes before the user's usual open`() throws {
        let slots = plan((0..<20).map { at($0, 8.5) }, day: 20)
        #expect(slots.count == 8)
        let look = at(20, 8.5)
        let last = try #require(slots.last { $0.end <= look })
        #expect(look.timeIntervalSince(last.end) <= 600)
        #expect(slots.contains { $0.why.contains("around 08:30") }, "\(slots)")
    }

    @Test func `weekends and working days have separate habits`() {
        let opens = (0..<28).map { at($0, $0 % 7 < 5 ? 7 : 11) }
        let (saturday, monday) = (plan(opens, day: 33), plan(opens, day: 35))
        #expect(saturday.contains { (0...900).contains(at(33, 11).timeIntervalSince($0.end)) }, "\(saturday)")
        #expect(monday.contains { (0...900).contains(at(35, 7).timeIntervalSince($0.end)) }, "\(monday)")
    }

    @Test(arguments: [0, 4])
    func `with fewer than 5 opens, runs are evenly spaced from the last one on`(opens: Int) {
        let known = (0..<opens).map { at($0, 8) }
        let first = plan(known, day: 10, runs: 4)
        #expect(first.map { $0.end.timeIntervalSince(at(10, 0)) / 3600 } == [0, 6, 12, 18])
        #expect(first.allSatisfy { $0.why.contains("evenly spaced") })
        let second = plan(known, day: 10, runs: 4, lastEnd: at(9, 22))
        #expect(second.map { $0.end.timeIntervalSince(at(10, 0)) / 3600 } == [4, 10, 16, 22])
    }

    @Test func `opens in the future and long ago are ignored, as from a wrong clock`() {
        let opens = (1...20).map { at(10 + $0, 8) } + (1...20).map { at(-200 - $0, 8) }
        #expect(plan(opens, day: 10, runs: 1).first?.why.contains("evenly spaced") == true)
        let habit = UsageHabit(
            opens: opens.map { FetchOpen(at: $0, secondsFromGMT: 0) },
            now: at(10, 0),
            zone: .fixed(0)
        )
        #expect(habit.openCount == 0)
    }

    @Test func `a thousand opens within 5 minutes count as one`() {
        let opens = (0..<1000).map { at(3, 8).addingTimeInterval(Double($0) / 4) }
        let habit = UsageHabit(
            opens: opens.map { FetchOpen(at: $0, secondsFromGMT: 0) },
            now: at(4, 0),
            zone: .fixed(0)
        )
        #expect(habit.openCount == 1)
    }

    @Test func `runs are at least 15 minutes apart and after the last one, even if hundreds are requested`() {
        let last = at(20, 8.4)
        let slots = plan((0..<20).map { at($0, 8.5) }, day: 20, runs: 500, lastEnd: last, hour: 8.45)
        let ends = [last] + slots.map(\.end)
        #expect(slots.count > 90)
        #expect(zip(ends, ends.dropFirst()).allSatisfy { $1.timeIntervalSince($0) >= 900 })
    }

    @Test func `empty, endless and far-off time spans yield plans of bounded size`() {
        let opens = (0..<20).map { FetchOpen(at: at($0, 8), secondsFromGMT: 0) }
        let habit = UsageHabit(opens: opens, now: at(20, 0), zone: .system)
        #expect(FetchPlanner.plan(habit, from: at(20, 0), until: at(20, 0), runs: 8).isEmpty)
        #expect(FetchPlanner.plan(habit, from: at(20, 0), until: at(21, 0), runs: 0).isEmpty)
        #expect(FetchPlanner.plan(habit, from: at(20, 0), until: .distantFuture, runs: 8).count == 8)
        let far = FetchPlanner.plan(habit, from: at(20, 0), until: at(21, 0), runs: 8, lastEnd: .distantPast)
        #expect(far.count == 8)
        #expect(UsageHabit(opens: opens, now: .distantFuture).openCount == 0)
        #expect(FetchPlanner.plan(habit, from: at(20, 0), until: at(21, 0), runs: 8, lastEnd: at(30, 0)).count <= 8)
    }

    @Test func `a flex window ends at the user's usual open`() throws {
        let opens = (0..<20).map { FetchOpen(at: at($0, 8.5), secondsFromGMT: 0) }
        let habit = UsageHabit(opens: opens, now: at(20, 0), zone: .fixed(0))
        let next = try #require(habit.nextOpen(after: at(20, 1), zone: .fixed(0)))
        #expect((0...3600).contains(at(20, 8.5).timeIntervalSince(next)))
        let window = FlexWindow(after: at(20, 2), interval: 6 * 3600, nextOpen: next)
        #expect(window.earliest == at(20, 8))
        #expect(window.deadline == max(next, at(20, 8)))
    }
}
