import Glibc
import SystemSupport

/// The exchange over one connection to gpsd, from the first request to its end. The source's thread.
struct GPSDConversation: ~Copyable {
    enum Ending {
        case stopped
        case resting
        /// Silent for so long that only a new connection can show whether gpsd is alive.
        case stale
        /// `waited` is the duration of the failed attempt in seconds.
        case lost(reason: String, waited: Double = 0)
    }

    private let session: GPSDSession
    private let address: GPSDAddress
    private let control: SourceControl
    /// Receives every line that is read.
    private let recorder: GPSDRecorder?
    private let decoder: GPSDDecoder
    private var framer = LineFramer()
    private var monitor: ReceiverMonitor
    private var isAnnounced = false
    private var skipped = 0

    init(_ session: GPSDSession, of address: GPSDAddress, _ control: SourceControl, _ recorder: GPSDRecorder?) {
        (self.session, self.address, self.control, self.recorder) = (session, address, control, recorder)
        decoder = GPSDDecoder(device: address.device)
        monitor = ReceiverMonitor(of: address, at: MonotonicTime.now.seconds)
    }

    /// Requests reports and delivers them until the connection ends; resets `retry` with the first report.
    mutating func listen(_ retry: inout RetryDelay) -> Ending {
        guard session.watch(device: address.device) else { return Self.closed }
        // Not announced immediately: a gpsd that accepts connections only to drop them is not back.
        let announcementTime = MonotonicTime.now.seconds + Self.announcementDelay
        while true {
            switch control.wait(for: session.descriptor, until: isAnnounced ? monitor.deadline : announcementTime) {
            case .stopped: return .stopped
            case .resting: return .resting
            case .timeout:
                if let ending = isAnnounced ? act() : announce() { return ending }
            case .readable:
                if let ending = hear(&retry) { return ending }
            }
        }
    }

    /// A connection that lasts this long is reported as established even if nothing was received on it; in seconds.
    private static let announcementDelay = 0.25
    private static let closed = Ending.lost(reason: "gpsd closed the connection")
    private static let announcement: [SourceItem] = [.report(.reconnected), .connected]

    private mutating func announce() -> Ending? {
        isAnnounced = true
        return control.deliver(Self.announcement) ? nil : .stopped
    }

    /// Acts when nothing arrived until the deadline.
    private mutating func act() -> Ending? {
        switch monitor.passDeadline(at: MonotonicTime.now.seconds) {
        case .askForDevices: session.askForDevices() ? nil : Self.closed
        case .askForReports: session.watch(device: address.device) ? nil : Self.closed
        case .saySilent: control.deliver([.silent]) ? nil : .stopped
        case .reconnect: .stale
        }
    }

    private mutating func hear(_ retry: inout RetryDelay) -> Ending? {
        let now = MonotonicTime.now.seconds
        let (decoder, session, recorder) = (decoder, session, recorder)
        var monitor = monitor
        var items: [SourceItem] = []
        let count = framer.drain(session.receive) { line in
            recorder?.append(line)
            let message = decoder.decode(line, arrival: now)
            if let news = monitor.receive(message, at: now) { items.append(news) }
        }
        let code = errno
        recorder?.flush()
        self.monitor = monitor
        // Not before the first report: a gpsd that accepts and drops connections must not be retried four times a second.
        if monitor.lastReport == now { retry.reset() }
        if framer.skipped != skipped {
            skipped = framer.skipped
            items.append(.skippedLines(skipped))
        }
        if count > 0, !isAnnounced {
            isAnnounced = true
            items.insert(contentsOf: Self.announcement, at: 0)
        }
        guard control.deliver(items) else { return .stopped }
        if count == 0 { return Self.closed }
        if count < 0, code != EAGAIN, code != EINTR { return .lost(reason: systemMessage(code)) }
        return nil
    }
}
