import BackgroundFetch
import BackgrounderAPI
import Testing

@Suite struct FetchCreditTests {
    private func runs(_ duration: Double, kills: Int = 0, killsOfDay: Int = 0) -> Int {
        FetchCredit().runsPerDay(durations: Array(repeating: duration, count: 20), kills: kills, killsOfDay: killsOfDay)
    }

    @Test func `quick sources get more runs than slow ones`() {
        #expect(runs(0) == 48)
        #expect(runs(5) == 48)
        #expect(runs(10) == 24)
        #expect(runs(30) == 8)
        #expect(runs(300) == 4)
        #expect(runs(2) >= 4 * runs(25))
        // Without known durations a run counts as its whole budget.
        #expect(FetchCredit().runsPerDay(durations: [], killsOfDay: 0) == 8)
        #expect(FetchCredit().runsPerDay(durations: [.nan, -1, .infinity], killsOfDay: 0) == 8)
    }

    @Test func `a run cancelled at its budget costs three times as much and half of the next day's runs`() {
        #expect(runs(10, kills: 3) == 8)
        #expect(runs(10, kills: 3, killsOfDay: 1) == 4)
        #expect(runs(30, kills: 20, killsOfDay: 20) == 2)
    }

    @Test func `every two runs without news skip a slot, up to half of them, and news restores one`() {
        var credit = FetchCredit()
        let durations = [10.0]
        for _ in 0..<4 { credit.record(.noData) }
        #expect(credit.runsPerDay(durations: durations, killsOfDay: 0) == 22)
        credit.record(.newData)
        credit.record(.noData)
        credit.record(.failed)
        #expect(credit.runsPerDay(durations: durations, killsOfDay: 0) == 23)
        for _ in 0..<100 { credit.record(.noData) }
        #expect(credit.runsPerDay(durations: durations, killsOfDay: 0) == 12)
    }
}
