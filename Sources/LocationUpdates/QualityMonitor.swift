import BackgrounderAPI
import FoundationEssentials

/// Puts into a word how well fixes come in; with hysteresis, so that the word is worth a log line (BEHAVIOUR.md, Quality).
struct QualityMonitor {
    private(set) var quality = FixQuality.searching
    /// The reason, the value and the limit behind the word, for people.
    private(set) var detail: String?
    private var goodInRow = 0
    /// How long no fix has been good up to the last one, and whether one of them had a place.
    private var drought: (seconds: Double, last: Double, hasPlace: Bool)?

    /// Takes what became of `fix`; `elapsed` is the seconds of a clock that never jumps.
    mutating func receive(_ decision: Decision, of fix: Fix, elapsed: Double) {
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
                receiveBad(rejection, at: instant)
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

    mutating func noDevice() {
        enter(.noDevice, detail: "gpsd has no receiver")
    }

    mutating func devicePresent() {
        if quality == .noDevice { enter(.searching) }
    }

    /// Says why a file ended before its end.
    mutating func damaged(_ fault: TrackFault) {
        detail = fault.description
    }

    private mutating func enter(_ quality: FixQuality, detail: String? = nil) {
        self.quality = quality
        self.detail = detail
        goodInRow = 0
        drought = nil
    }

    private mutating func receiveGood() {
        goodInRow += 1
        drought = nil
        if quality != .ok, goodInRow >= Judgement.goodFixes { enter(.ok) }
    }

    private mutating func receiveBad(_ rejection: Rejection, at instant: Double?) {
        goodInRow = 0
        if [.silent, .noDevice, .disconnected].contains(quality) { enter(.searching) }
        guard let instant else { return }
        let hasPlace = rejection.reason != .noFix
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
            detail = Self.describe(rejection)
        }
    }

    private static func describe(_ rejection: Rejection) -> String {
        func number(_ value: Double?) -> String? {
            guard let value, value.magnitude < 1e15 else { return nil }
            let tenths = Int64((value * 10).rounded())
            return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\((tenths % 10).magnitude)"
        }
        let unit =
            switch rejection.reason {
            case .outOfOrder: "s"
            case .implausible: "m/s"
            default: "m"
            }
        var text = rejection.reason.rawValue
        if let value = number(rejection.value) {
            text += ": \(value) \(unit)"
        } else if rejection.reason == .accuracy {
            text += ": a 2D fix where 3D is needed"
        }
        if let limit = number(rejection.limit) { text += ", limit \(limit) \(unit)" }
        return text
    }
}
