import BackgrounderAPI
import FoundationEssentials

/// Describes in one word how well fixes arrive, with hysteresis so that each change is worth a log line. See
/// docs/behaviour.md, Quality.
struct QualityMonitor {
    private(set) var quality = FixQuality.searching
    /// The reason for the word, with value and limit.
    private(set) var detail: String?
    private var goodInRow = 0
    /// Fixes with a position since the last good one.
    private var recent = RecentFixes()
    /// How long fixes have been bad, the time of the last one, and whether one of them had a position.
    private var drought: (seconds: Double, last: Double, hasPlace: Bool)?

    /// After this time without a good fix, the source is starved; in seconds.
    private static let starvation = 30.0
    /// How many consecutive good fixes make the quality good.
    private static let goodFixes = 3

    /// Processes the decision about `fix` under `settings`.
    ///
    /// - Parameter instant: the time of the fix, in seconds of a clock that all fixes share; `nil` if it is unknown.
    mutating func receive(_ decision: Decision, of fix: Fix, _ settings: LocationSettings, at instant: Double?) {
        switch decision {
        case .accepted: receiveGood()
        case .rejected(let rejection):
            switch rejection.reason {
            // Accurate, but not far enough away.
            case .distance, .jitter: receiveGood()
            // Another receiver says nothing about the pinned one.
            case .device: break
            default:
                receiveBad(rejection, at: instant) { rejection.remedy(settings, isFromReceiver: fix.isFromReceiver) }
            }
        }
    }

    mutating func connected() {
        if quality == .disconnected { enter(.searching) }
    }

    mutating func disconnected(reason: String) {
        enter(.disconnected, detail: reason)
    }

    mutating func silent() {
        if quality != .noDevice { enter(.silent, detail: "no report for \(Int(ReceiverMonitor.silence)) s") }
    }

    mutating func noDevice(reason: String) {
        enter(.noDevice, detail: reason)
    }

    mutating func devicePresent() {
        if quality == .noDevice { enter(.searching) }
    }

    /// Records that the source rests after a delivered fix: no further fixes are expected.
    mutating func rest() {
        if quality == .searching { enter(.ok) }
    }

    /// Records why a file could not be read to its end, or that it is empty.
    mutating func damaged(_ reason: String) {
        detail = reason
    }

    private mutating func enter(_ quality: FixQuality, detail: String? = nil) {
        self.quality = quality
        self.detail = detail
        goodInRow = 0
        drought = nil
        recent.clear()
    }

    private mutating func receiveGood() {
        goodInRow += 1
        drought = nil
        recent.clear()
        if quality != .ok, goodInRow >= Self.goodFixes { enter(.ok) }
    }

    private mutating func receiveBad(_ rejection: Rejection, at instant: Double?, remedy: () -> String?) {
        // Many receivers repeat a fix.
        if rejection.reason != .duplicate { goodInRow = 0 }
        if [.silent, .noDevice, .disconnected].contains(quality) { enter(.searching) }
        guard let instant else { return }
        let hasPlace = rejection.reason != .noFix
        if hasPlace { recent.add(at: instant) }
        // A step that only a clock jump explains does not count as elapsed time.
        let step = drought.map { instant - $0.last } ?? 0
        let seconds = (drought?.seconds ?? 0) + (step > 0 && step <= LocationFilter.segmentGap ? step : 0)
        drought = (seconds, instant, hasPlace || drought?.hasPlace == true)
        guard seconds >= Self.starvation else { return }
        if drought?.hasPlace == false {
            quality = .searching
            detail = nil
        } else if hasPlace || quality != .starved {
            quality = .starved
            let count = recent.total == 1 ? "1 fix" : "\(recent.total) fixes"
            detail = "\(count) in the last \(RecentFixes.period) s, \(rejection.measure)"
            if let remedy = remedy() { detail? += "; try \(remedy)" }
        }
    }
}
