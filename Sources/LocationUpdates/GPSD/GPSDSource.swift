import Glibc

/// Reads a gpsd on a thread of its own, and comes back to it whatever happens to it.
///
/// The thread sleeps in poll(2) on gpsd's socket and on the control; the timeout of that is the only timer.
struct GPSDSource {
    let address: GPSDAddress
    let control: SourceControl

    private enum Ending {
        case stopped
        /// Silent for so long that only a new connection can tell whether anybody is there.
        case stale
        case lost(reason: String)
    }

    /// Returns when the control says stop.
    func run() {
        var retry = RetryDelay(isLoopback: address.isLoopback)
        while !control.isStopped {
            var reason: String
            do throws(GPSDConnectError) {
                let session = try GPSDSession(address)
                switch converse(session, &retry) {
                case .stopped: return
                case .stale: continue
                case .lost(let why): reason = why
                }
            } catch {
                reason = error.reason
            }
            guard control.deliver([.disconnected(reason: reason)]) else { return }
            guard case .timeout = control.wait(until: monotonicSeconds() + retry.next()) else { return }
        }
    }

    private func converse(_ session: GPSDSession, _ retry: inout RetryDelay) -> Ending {
        guard session.watch(device: address.device) else { return .lost(reason: "it closed the connection") }
        guard control.deliver([.report(.reconnected), .connected]) else { return .stopped }
        let decoder = GPSDDecoder()
        var framer = LineFramer()
        var skipped = 0
        var lastReport = monotonicSeconds()
        var isSilent = false
        var hasDevice = true
        while true {
            let patience = isSilent || !hasDevice ? Judgement.renewal : Judgement.silence
            switch control.wait(for: session.descriptor, until: lastReport + patience) {
            case .stopped: return .stopped
            case .timeout:
                if isSilent || !hasDevice { return .stale }
                isSilent = true
                guard control.deliver([.silent]) else { return .stopped }
            case .readable:
                let now = monotonicSeconds()
                var items: [SourceItem] = []
                let count = framer.fill(session.receive) { line in
                    switch decoder.decode(line, arrival: now) {
                    case .report(let report):
                        items.append(.report(report))
                        lastReport = now
                    case .data: lastReport = now
                    case .devices(let isEmpty):
                        hasDevice = !isEmpty
                        items.append(isEmpty ? .noDevice : .devicePresent)
                    case .other, .garbage: break
                    }
                }
                let code = errno
                if lastReport == now {
                    retry.reset()
                    isSilent = false
                    hasDevice = true
                }
                if framer.skipped != skipped {
                    skipped = framer.skipped
                    items.append(.skippedLines(skipped))
                }
                guard control.deliver(items) else { return .stopped }
                if count == 0 { return .lost(reason: "it closed the connection") }
                if count < 0, code != EAGAIN, code != EINTR { return .lost(reason: systemMessage(code)) }
            }
        }
    }
}

/// How long to wait before the next attempt: doubling, and never the same for all clients of a gpsd that returns.
struct RetryDelay {
    private let last: Double
    private var delay = Judgement.firstRetry

    init(isLoopback: Bool) {
        last = isLoopback ? Judgement.lastRetryLoopback : Judgement.lastRetryRemote
    }

    /// Seconds; the random part only shortens.
    mutating func next() -> Double {
        defer { delay = min(2 * delay, last) }
        return delay * Double.random(in: 0.8...1)
    }

    mutating func reset() {
        delay = Judgement.firstRetry
    }
}
