import Testing

@testable import BackgroundTransfers

/// The deadline of connections that are too slow. Times are in seconds.
@Suite struct ProgressTests {
    /// Returns how long after `start` a server is given up that is fast until `start` and then sends `rate` bytes a
    /// second.
    private func patience(_ rate: Int64, after start: Int) -> Double {
        var progress = Progress(TransferLimits())
        for second in 1...start { progress.note(Int64(second) * 1_000_000, at: .seconds(second)) }
        for second in start..<start + 1000 {
            if progress.deadline(size: nil) <= .seconds(second) { return Double(second - start) }
            progress.note(progress.offset + rate, at: .seconds(second + 1))
        }
        return .infinity
    }

    @Test(arguments: [1, 7, 59, 61, 100, 119])
    func `a server that falls silent or becomes too slow is given up 60 to 65 s later`(start: Int) {
        for rate: Int64 in [0, 1, 100, 900, 999] {
            let patience = patience(rate, after: start)
            #expect(patience >= 60, "\(rate) bytes a second: \(patience) s")
            #expect(patience <= 65, "\(rate) bytes a second: \(patience) s")
        }
        #expect(patience(1_000, after: start) == .infinity)
    }

    @Test func `a file that starts over gets a new deadline, and a fully sent one gets ten minutes`() {
        var progress = Progress(TransferLimits())
        #expect(progress.deadline(size: 10) == .seconds(60))
        progress.note(10, at: .seconds(50))
        #expect(progress.deadline(size: 10) == .seconds(650))
        progress.note(0, at: .seconds(100))
        #expect(progress.deadline(size: 10) == .seconds(160))
    }
}
