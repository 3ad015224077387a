import Glibc

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
        var retry = RetryDelay(isLoopback: address.isLoopback)
        while true {
            switch attempt(&retry) {
            case .stopped: return
            case .stale: continue
            case .resting: guard rest() else { return }
            case .lost(let reason, let waited):
                guard control.deliver([.disconnected(reason: reason)]) else { return }
                let delay = max(Judgement.firstRetry, retry.next() - waited)
                switch control.wait(until: monotonicSeconds() + delay) {
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
        let began = monotonicSeconds()
        do throws(GPSDConnectError) {
            var conversation = GPSDConversation(try GPSDSession(address), of: address, control, recorder)
            return conversation.listen(&retry)
        } catch {
            return .lost(reason: error.reason, waited: monotonicSeconds() - began)
        }
    }

    /// Stays disconnected until the end of the rest; returns false once stopped.
    private func rest() -> Bool {
        control.deliver([.left]) && control.waitForEndOfRest() && control.deliver([.returning])
    }
}

/// The delay before the next attempt. It doubles, with a random part so that the clients of a gpsd do not return together.
struct RetryDelay {
    private let last: Double
    private var delay = Judgement.firstRetry

    init(isLoopback: Bool) {
        last = isLoopback ? Judgement.lastRetryLoopback : Judgement.lastRetryRemote
    }

    /// Returns the delay in seconds; the random part only shortens it.
    mutating func next() -> Double {
        defer { delay = min(2 * delay, last) }
        return delay * Double.random(in: 0.8...1)
    }

    mutating func reset() {
        delay = Judgement.firstRetry
    }
}
