/// What a gpsd's answers and silences amount to while one connection lasts, and what is due next.
///
/// Times are seconds of the monotonic clock.
struct GPSDStanding {
    /// What is to be done when nothing has come until the deadline.
    enum Due {
        case askForDevices, saySilent, askForReports, reconnect
    }

    private enum Stage {
        case hearing
        /// Nothing came for a while, and gpsd was asked which receivers it has: it tells nobody when one vanishes.
        case asked
        /// gpsd takes some seconds to notice that one is gone, and is asked anew at this time.
        case silent(again: Double)
        case deviceless
        /// gpsd does not have the receiver that is wanted, and is asked for it again at this time.
        case refused(again: Double)
    }

    private let device: String?
    private var stage = Stage.hearing
    /// When something came last that says more than that the silence goes on.
    private var lastNews: Double
    private var request: RetryDelay
    /// Whether the request for reports was answered: an error after that is another's.
    private var isWatching = false
    /// When the last report came.
    private(set) var lastReport: Double?

    init(of address: GPSDAddress, at now: Double) {
        device = address.device
        lastNews = now
        request = RetryDelay(isLoopback: address.isLoopback)
    }

    var deadline: Double {
        switch stage {
        case .hearing: lastNews + Judgement.silence - Judgement.inquiry
        case .asked: lastNews + Judgement.silence
        case .deviceless: lastNews + Judgement.renewal
        case .silent(let again), .refused(let again): min(again, lastNews + Judgement.renewal)
        }
    }

    mutating func passDeadline(at now: Double) -> Due {
        switch stage {
        case .hearing:
            stage = .asked
            return .askForDevices
        case .asked:
            stage = .silent(again: now + Judgement.silence)
            return .saySilent
        case .silent where now < lastNews + Judgement.renewal:
            stage = .silent(again: now + Judgement.silence)
            return .askForDevices
        case .refused where now < lastNews + Judgement.renewal:
            stage = .refused(again: now + request.next())
            return .askForReports
        case .silent, .deviceless, .refused:
            return .reconnect
        }
    }

    /// Takes what gpsd said; returns what the manager has to know of it.
    mutating func take(_ message: GPSDMessage, at now: Double) -> SourceItem? {
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
            // A receiver that has just come is not silent yet.
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
            // It answers, so the connection is no stale one.
            lastNews = now
            if case .refused = stage { return nil }
            stage = .refused(again: now + request.next())
            return .noDevice(reason: "gpsd says: \(reason)")
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
