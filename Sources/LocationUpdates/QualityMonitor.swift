import BackgrounderAPI
import FoundationEssentials

/// Puts into a word how well fixes come in; with hysteresis, so that the word is worth a log line (BEHAVIOUR.md, Quality).
struct QualityMonitor {
    private(set) var quality = FixQuality.searching
    /// The reason, the value and the limit behind the word, for people.
    private(set) var detail: String?
    private var goodInRow = 0
    /// Those with a place since the last good one.
    private var recent = RecentFixes()
    /// How long no fix has been good up to the last one, and whether one of them had a place.
    private var drought: (seconds: Double, last: Double, hasPlace: Bool)?

    /// Takes what became of `fix` under `settings`; `elapsed` is the seconds of a clock that never jumps.
    mutating func receive(_ decision: Decision, of fix: Fix, _ settings: LocationSettings, elapsed: Double) {
        switch decision {
        case .accepted: receiveGood()
        case .rejected(let rejection):
            switch rejection.reason {
            // Good enough, only not far enough away.
            case .distance, .jitter: receiveGood()
            // Another receiver says nothing about the one that is followed.
            case .device: break
            default:
                // A replayed minute counts as a minute, whatever its pace.
                let instant = fix.isLive ? elapsed : fix.time?.timeIntervalSince1970
                receiveBad(rejection, at: instant) { rejection.remedy(settings, isLive: fix.isLive) }
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
        if quality != .noDevice { enter(.silent, detail: "no report for \(Int(Judgement.silence)) s") }
    }

    mutating func noDevice(reason: String) {
        enter(.noDevice, detail: reason)
    }

    mutating func devicePresent() {
        if quality == .noDevice { enter(.searching) }
    }

    /// The source leaves for a rest after a delivered fix: there will be no others to wait for.
    mutating func rest() {
        if quality == .searching { enter(.ok) }
    }

    /// Says why a file ended before its end, or that nothing is in it.
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
        if quality != .ok, goodInRow >= Judgement.goodFixes { enter(.ok) }
    }

    private mutating func receiveBad(_ rejection: Rejection, at instant: Double?, remedy: () -> String?) {
        // Many receivers say the same fix again and again.
        if rejection.reason != .duplicate { goodInRow = 0 }
        if [.silent, .noDevice, .disconnected].contains(quality) { enter(.searching) }
        guard let instant else { return }
        let hasPlace = rejection.reason != .noFix
        if hasPlace { recent.add(at: instant) }
        // A step that only a jump of the clock explains is no time that passed.
        let step = drought.map { instant - $0.last } ?? 0
        let seconds = (drought?.seconds ?? 0) + (step > 0 && step <= Judgement.gapOpensSegment ? step : 0)
        drought = (seconds, instant, hasPlace || drought?.hasPlace == true)
        guard seconds >= Judgement.starvation else { return }
        if drought?.hasPlace == false {
            quality = .searching
            detail = nil
        } else if hasPlace || quality != .starved {
            quality = .starved
            let count = recent.total == 1 ? "1 fix" : "\(recent.total) fixes"
            detail = "\(count) in the last \(Judgement.countedTime) s, \(rejection.measure)"
            if let remedy = remedy() { detail? += "; try \(remedy)" }
        }
    }
}
