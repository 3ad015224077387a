import Testing

@testable import BackgroundTransfers

@Suite struct TransferRateTests {
    @Test func `the rate is that of the last ten seconds`() throws {
        var rate = TransferRate(bytes: 5000, at: .seconds(0))
        for step in 1...80 { rate.note(5000 + Int64(step) * 250, at: .milliseconds(250) * step) }
        #expect(rate.bytesPerSecond(at: .seconds(20)) == 1000)
        // The bytes of earlier attempts and the slow beginning no longer count.
        for step in 1...40 { rate.note(25_000 + Int64(step) * 500, at: .seconds(20) + .milliseconds(250) * step) }
        let fast = try #require(rate.bytesPerSecond(at: .seconds(30)))
        #expect(fast > 1900)
        #expect(fast <= 2000)
    }

    @Test func `the rate is unknown in the first second`() {
        var rate = TransferRate(bytes: 0, at: .seconds(3))
        rate.note(100_000, at: .milliseconds(3900))
        #expect(rate.bytesPerSecond(at: .milliseconds(3900)) == nil)
        #expect(rate.bytesPerSecond(at: .seconds(4)) == 100_000)
    }

    @Test func `the rate of a connection without data falls to zero`() throws {
        var rate = TransferRate(bytes: 0, at: .zero)
        rate.note(10_000, at: .seconds(2))
        #expect(rate.bytesPerSecond(at: .seconds(5)) == 2000)
        #expect(rate.bytesPerSecond(at: .seconds(12)) == 0)
    }

    @Test func `a transfer that starts again is measured from its new beginning`() {
        var rate = TransferRate(bytes: 0, at: .zero)
        rate.note(90_000, at: .seconds(5))
        rate.note(1000, at: .seconds(6))
        rate.note(3000, at: .seconds(8))
        #expect(rate.bytesPerSecond(at: .seconds(8)) == 1000)
    }
}
