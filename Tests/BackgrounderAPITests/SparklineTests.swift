import BackgrounderAPI
import Testing

@Suite struct SparklineTests {
    @Test func `Bars rise from 0 to the greatest value`() {
        #expect(Sparkline.render([0, 1, 2, 3, 4, 5, 6, 7, 8]) == "▁▂▃▄▅▆▇██")
        #expect(Sparkline.render([10, 10]) == "██")
        #expect(Sparkline.render([-8, 8]) == "▁█")
    }

    @Test func `Without a value, or with zeros alone, nothing stands out`() {
        #expect(Sparkline.render([]) == "")
        #expect(Sparkline.render([0, 0]) == "▁▁")
        #expect(Sparkline.render([.nan, 1, .infinity]) == " █ ")
    }

    @Test func `More values than columns are averaged`() {
        #expect(Sparkline.render([0, 0, 8, 8], columns: 2) == "▁█")
        #expect(Sparkline.render([0, 8], columns: 9) == "▁█")
    }
}
