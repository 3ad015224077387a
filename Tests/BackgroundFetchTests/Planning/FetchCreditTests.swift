import BackgroundFetch
import BackgrounderAPI
import Testing

@Suite struct FetchCreditTests {
    private func runs(_ duration: Double, kills: Int = 0, killsOfDay: Int = 0) -> Int {
        FetchCredit().runsPerDay(durations: Array(repeating: duration, count: 20), kills: kills, killsOfDay: killsOfDay)
    }

    @Test("Quick sources get more runs, slow ones fewer")
    func quickness() {
        #expect(runs(0) == 48 && runs(5) == 48 && runs(10) == 24 && runs(30) == 8 && runs(300) == 4)
        #expect(runs(2) >= 4 * runs(25))
        // Nothing is known yet: as if it took its whole budget.
        #expect(FetchCredit().runsPerDay(durations: [], killsOfDay: 0) == 8)
        #expect(FetchCredit().runsPerDay(durations: [.nan, -1, .infinity], killsOfDay: 0) == 8)
    }

    @Test("A run that was ended at its budget costs three times as much, and half of the next day's runs")
    func kills() {
        #expect(runs(10, kills: 3) == 8 && runs(10, kills: 3, killsOfDay: 1) == 4)
        #expect(runs(30, kills: 20, killsOfDay: 20) == 2)
    }

    @Test("Two planned runs in a row without news leave out a slot, news takes one back in; at most half is left out")
    func news() {
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
