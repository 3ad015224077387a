import Testing

@testable import AudioPlayback

/// The retries of an output that failed.
@Suite struct OutageRecoveryTests {
    /// Stands for the wait before an attempt: it ends when it is cancelled, or after the tests.
    private func forever() -> Task<Void, Never> { Task { try? await Task.sleep(for: .seconds(600)) } }

    @Test func `each attempt waits twice as long, up to four seconds`() {
        var recovery = OutageRecovery()
        var delays: [Duration] = []
        for _ in 0..<6 {
            _ = recovery.fail("the device was lost")
            recovery.startRetry { delay in
                delays.append(delay)
                return forever()
            }
        }
        recovery.end()
        #expect(delays == [250, 500, 1000, 2000, 4000, 4000].map { .milliseconds($0) })
        #expect(recovery.interruptions == 1)
    }

    @Test func `another failure and the end of the outage cancel the wait for the next attempt`() {
        let (first, second) = (forever(), forever())
        var recovery = OutageRecovery()
        let isNew = recovery.fail("the device was lost")
        #expect(isNew)
        recovery.startRetry { _ in first }
        let isAnother = recovery.fail("it does not open")
        #expect(!isAnother)
        #expect(!first.isCancelled)
        recovery.startRetry { _ in second }
        #expect(first.isCancelled)
        #expect(!second.isCancelled)
        recovery.end()
        #expect(second.isCancelled)
        #expect(!recovery.isWaiting)
    }

    @Test func `a shutdown cancels the wait for the next attempt`() {
        let retry = forever()
        var recovery = OutageRecovery()
        _ = recovery.fail("the device was lost")
        recovery.startRetry { _ in retry }
        recovery.cancelRetry()
        #expect(retry.isCancelled)
    }
}
