import SystemSupport

/// The state of one connection to gpsd, derived from its messages and silences: whether it has a receiver, and what to do next.
///
/// Times are in seconds of the monotonic clock.
struct ReceiverMonitor {
    /// The action that is due if nothing arrives until the deadline.
    enum Due {
        case askForDevices, saySilent, askForReports, reconnect
    }

    private enum Stage {
        case hearing
        /// Nothing arrived for a while, and gpsd was asked for its receivers: it does not report when one disappears.
        case asked
        /// gpsd needs some seconds to notice that a receiver is gone; it is asked again at this time.
        case silent(again: Double)
        case deviceless
        /// gpsd does not have the selected receiver; it is asked again at this time.
        case refused(again: Double)
    }

    private let device: String?
    private var stage = Stage.hearing
    /// When the last message arrived that was more than a sign of continuing silence.
    private var lastNews: Double
    private var request: RetryDelay
    /// Whether the request for reports was answered: later errors concern other requests.
    private var isWatching = false
    /// When the last report arrived.
    private(set) var lastReport: Double?

    /// After this time without a report, the source is silent; in seconds.
    static let silence = 5.0
    /// How long before reporting silence gpsd is asked for its receivers, in seconds: it does not report when one
    /// disappears.
    private static let inquiry = 0.5
    /// After this time without news, only a new connection can show whether gpsd is alive; in seconds.
    private static let renewal = 30.0

    init(of address: GPSDAddress, at now: Double) {
        device = address.device
        lastNews = now
        request = RetryDelay(to: address)
    }

    var deadline: Double {
        switch stage {
        case .hearing: lastNews + Self.silence - Self.inquiry
        case .asked: lastNews + Self.silence
        case .deviceless: lastNews + Self.renewal
        case .silent(let again), .refused(let again): min(again, lastNews + Self.renewal)
        }
    }

    mutating func passDeadline(at now: Double) -> Due {
        switch stage {
        case .hearing:
            stage = .asked
            return .askForDevices
        case .asked:
            stage = .silent(again: now + Self.silence)
            return .saySilent
        case .silent where now < lastNews + Self.renewal:
            stage = .silent(again: now + Self.silence)
            return .askForDevices
        case .refused where now < lastNews + Self.renewal:
            stage = .refused(again: now + request.next())
            return .askForReports
        case .silent, .deviceless, .refused:
            return .reconnect
        }
    }

    /// Processes a message; returns the item for the manager, if any.
    mutating func receive(_ message: GPSDMessage, at now: Double) -> SourceItem? {
        switch message {
        case .report(let report):
            hear(at: now)
            return .report(report)
        case .data:
            hear(at: now)
            return nil
        case .devices(isEmpty: true):
            if case .refused = stage { return nil }
            stage = .deviceless
            return .noDevice(reason: device.map { "gpsd has no receiver \($0)" } ?? "gpsd has no receiver")
        case .devices(isEmpty: false):
            // A receiver that has just appeared is not silent yet.
            if case .deviceless = stage {
                stage = .hearing
                lastNews = now
            }
            return .devicePresent
        case .watching:
            isWatching = true
            guard case .refused = stage else { return nil }
            stage = .hearing
            lastNews = now
            return .devicePresent
        case .refused(let reason):
            guard !isWatching else { return nil }
            // gpsd answers, so the connection is not stale.
            lastNews = now
            if case .refused = stage { return nil }
            stage = .refused(again: now + request.next())
            return .noDevice(reason: "gpsd reports: \(reason)")
        case .other, .garbage:
            return nil
        }
    }

    private mutating func hear(at now: Double) {
        lastReport = now
        lastNews = now
        stage = .hearing
        isWatching = true
    }
}
