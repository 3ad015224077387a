import SystemSupport
import Testing

@Suite struct SparklineTests {
    @Test func `bars rise from zero to the greatest value`() {
        #expect(Sparkline.render([0, 1, 2, 3, 4, 5, 6, 7, 8]) == "▁▂▃▄▅▆▇██")
        #expect(Sparkline.render([10, 10]) == "██")
        #expect(Sparkline.render([-8, 8]) == "▁█")
    }

    @Test func `zeros are drawn as the lowest bar, and values that are not finite as blanks`() {
        #expect(Sparkline.render([]) == "")
        #expect(Sparkline.render([0, 0]) == "▁▁")
        #expect(Sparkline.render([.nan, 1, .infinity]) == " █ ")
    }

    @Test func `values are averaged when there are more of them than columns`() {
        #expect(Sparkline.render([0, 0, 8, 8], columns: 2) == "▁█")
        #expect(Sparkline.render([0, 8], columns: 9) == "▁█")
    }
}
