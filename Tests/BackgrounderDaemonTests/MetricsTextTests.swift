import BackgrounderAPI
import Foundation
import Testing

@testable import BackgrounderDaemon

/// Prometheus' text format; ``MetricsTests`` checks it with Prometheus itself.
@Suite struct MetricsTextTests {
    @Test func `numbers are written as Prometheus reads them`() {
        for (value, text) in [
            (0, "0"), (-3, "-3"), (0.25, "0.25"), (1e15, "1000000000000000"), (1e-9, "1e-09"), (1e300, "1e+300"),
            (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"),
        ] as [(Double, String)] {
            var metrics = MetricsText()
            metrics.add("m", .gauge, "A metric.", value)
            #expect(metrics.text == "# HELP m A metric.\n# TYPE m gauge\nm \(text)\n")
        }
    }

    @Test func `labels and help are escaped`() {
        var metrics = MetricsText()
        metrics.add("m_total", .counter, "a\\b\nc\"d", [.init(["x": "a\\b\nc\"d", "y": "ü\r"], 7)])
        #expect(
            metrics.text == """
                # HELP m_total a\\\\b\\nc"d
                # TYPE m_total counter
                m_total{x="a\\\\b\\nc\\"d",y="ü\u{D}"} 7

                """
        )
    }

    @Test func `a metric without a value is left out`() {
        var metrics = MetricsText()
        metrics.add("m", .gauge, "A metric.", [])
        #expect(metrics.text.isEmpty)
    }

    @Test func `runs that ended are counted for the sources that exist`() {
        let counts = RunCounts()
        counts.count(.init(id: 1, source: "a", trigger: .due, began: .now))
        for (source, result) in [("a", .newData), ("a", .newData), ("b", .failed)] as [(String, FetchResult)] {
            counts.count(.init(id: 2, source: source, trigger: .due, began: .now, result: result))
        }
        func values(_ sources: [String]) -> [Double] { counts.samples(of: sources).map(\.value) }
        #expect(values(["a", "b"]) == [2, 0, 0, 0, 0, 1])
        #expect(values(["a"]) == [2, 0, 0])
        // A source that is added again begins at zero.
        #expect(values(["b"]) == [0, 0, 0])
    }
}
