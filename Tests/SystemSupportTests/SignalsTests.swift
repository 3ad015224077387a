import Glibc
import Synchronization
import SystemSupport
import TestSupport
import Testing

@Suite struct SignalsTests {
    @Test func `a signal sent right after the handler is installed is handled`() async throws {
        for _ in 1...20 {
            let count = Mutex(0)
            let heard = Signal()
            let signals = Signals([SIGUSR2]) { _ in
                count.withLock { $0 += 1 }
                heard.post()
            }
            kill(getpid(), SIGUSR2)
            _ = try await heard.wait(for: "the signal") { count.withLock { $0 } > 0 ? true : nil }
            withExtendedLifetime(signals) {}
        }
    }
}
