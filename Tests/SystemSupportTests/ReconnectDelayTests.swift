import SystemSupport
import Testing

@Suite struct ReconnectDelayTests {
    private static func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(seconds: seconds) }

    /// Expects a delay between a quarter of `seconds` and `seconds`.
    private func expect(_ seconds: Double, _ delay: Duration, _ location: SourceLocation = #_sourceLocation) {
        #expect(delay <= .seconds(seconds), sourceLocation: location)
        #expect(delay >= .seconds(seconds / 4), sourceLocation: location)
    }

    @Test func `delays double up to 30 s, and begin again after a reset`() {
        var delay = ReconnectDelay()
        for seconds in [1, 2, 4, 8, 16, 30, 30] as [Double] {
            expect(seconds, delay.next(after: .failed, at: Self.at(5)))
        }
        delay.reset()
        expect(1, delay.next(after: .failed, at: Self.at(5)))
    }

    @Test func `a server that cannot be reached is tried every 4 s for 5 minutes, and then less often`() {
        var delay = ReconnectDelay()
        for seconds in [1, 2, 4, 4, 4] as [Double] {
            expect(seconds, delay.next(after: .unreachable, at: Self.at(100)))
        }
        expect(4, delay.next(after: .unreachable, at: Self.at(399)))
        for seconds in [8, 16, 30, 30] as [Double] {
            expect(seconds, delay.next(after: .unreachable, at: Self.at(401)))
        }
        delay.reset()
        expect(1, delay.next(after: .unreachable, at: Self.at(900)))
    }

    @Test func `after a refusal, the delay is the longest`() {
        var delay = ReconnectDelay()
        expect(30, delay.next(after: .refused, at: Self.at(5)))
        expect(30, delay.next(after: .failed, at: Self.at(6)))
    }
}
