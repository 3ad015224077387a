import Glibc

/// Reads a gpsd on a thread of its own, and comes back to it whatever happens to it.
///
/// The thread sleeps in poll(2) on gpsd's socket and on the control; the timeout of that is the only timer.
struct GPSDSource {
    let address: GPSDAddress
    let control: SourceControl
    /// Is given every line that is read.
    var recorder: GPSDRecorder?

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
        let announcement: [SourceItem] = [.report(.reconnected), .connected]
        // Not at once: one that takes connections only to drop them has not come back.
        let settled = monotonicSeconds() + Judgement.settling
        var isAnnounced = false
        let decoder = GPSDDecoder()
        var framer = LineFramer()
        var skipped = 0
        var lastNews = monotonicSeconds()
        var isSilent = false
        var hasDevice = true
        while true {
            let patience = isSilent || !hasDevice ? Judgement.renewal : Judgement.silence
            switch control.wait(for: session.descriptor, until: isAnnounced ? lastNews + patience : settled) {
            case .stopped: return .stopped
            case .timeout where !isAnnounced:
                isAnnounced = true
                guard control.deliver(announcement) else { return .stopped }
            case .timeout:
                if isSilent || !hasDevice { return .stale }
                isSilent = true
                guard control.deliver([.silent]) else { return .stopped }
            case .readable:
                let now = monotonicSeconds()
                var items: [SourceItem] = []
                var isReport = false
                let count = framer.fill(session.receive) { line in
                    recorder?.append(line)
                    switch decoder.decode(line, arrival: now) {
                    case .report(let report):
                        items.append(.report(report))
                        isReport = true
                    case .data: isReport = true
                    case .devices(let isEmpty):
                        // A receiver that has just come is not silent yet.
                        if !isEmpty, !hasDevice { lastNews = now }
                        hasDevice = !isEmpty
                        items.append(isEmpty ? .noDevice : .devicePresent)
                    case .other, .garbage: break
                    }
                }
                let code = errno
                recorder?.flush()
                if isReport {
                    // Only now: a gpsd that takes connections and drops them is not asked four times a second.
                    retry.reset()
                    lastNews = now
                    isSilent = false
                    hasDevice = true
                }
                if framer.skipped != skipped {
                    skipped = framer.skipped
                    items.append(.skippedLines(skipped))
                }
                if count > 0, !isAnnounced {
                    isAnnounced = true
                    items.insert(contentsOf: announcement, at: 0)
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
