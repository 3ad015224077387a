import Glibc
import SystemSupport

/// Reads a gpsd on a thread of its own and reconnects whenever the connection ends.
///
/// The thread sleeps in poll(2) on gpsd's socket and on the control; the timeout of poll is the only timer.
struct GPSDSource {
    let address: GPSDAddress
    let control: SourceControl
    /// Receives every line that is read.
    var recorder: GPSDRecorder?

    /// Reads until the control stops it.
    func run() {
        var retry = RetryDelay(to: address)
        while true {
            switch attempt(&retry) {
            case .stopped: return
            case .stale: continue
            case .resting: guard rest() else { return }
            case .lost(let reason, let waited):
                guard control.deliver([.disconnected(reason: reason)]) else { return }
                let delay = max(RetryDelay.firstRetry, retry.next() - waited)
                switch control.wait(until: MonotonicTime.now.seconds + delay) {
                case .timeout, .readable: continue
                case .resting: guard rest() else { return }
                case .stopped: return
                }
            }
        }
    }

    /// Connects and listens until the connection ends. It is closed on return.
    private func attempt(_ retry: inout RetryDelay) -> GPSDConversation.Ending {
        if control.isStopped { return .stopped }
        let began = MonotonicTime.now.seconds
        do throws(GPSDConnectError) {
            var conversation = GPSDConversation(try GPSDSession(address), of: address, control, recorder)
            return conversation.listen(&retry)
        } catch {
            return .lost(reason: error.reason, waited: MonotonicTime.now.seconds - began)
        }
    }

    /// Stays disconnected until the end of the rest; returns false once stopped.
    private func rest() -> Bool {
        control.deliver([.left]) && control.waitForEndOfRest() && control.deliver([.returning])
    }
}

extension RetryDelay {
    /// Seconds.
    fileprivate static let firstRetry = 0.25

    /// Creates the delay before the next attempt to reach `address`.
    init(to address: GPSDAddress) {
        self.init(first: Self.firstRetry, longest: address.isLoopback ? 1 : 5, jitter: 0.2)
    }
}
