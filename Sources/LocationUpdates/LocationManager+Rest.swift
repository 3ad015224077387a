import BackgrounderAPI
import FoundationEssentials
import Logging

/// Why a live source is away from its gpsd, and until when.
struct Rest {
    /// Seconds of the monotonic clock.
    var began: Double
    var length: Duration
    /// By the machine's clock, for people.
    var end: Date

    var deadline: Double { began + length / .seconds(1) }

    /// What gpsd does meanwhile: whether it saves power is nothing that we could know.
    var detail: String {
        let time = ISO8601.string(end).dropFirst("2026-11-21T".count).prefix("10:02:00".count)
        return
            "left gpsd until \(time)Z; gpsd closes the receiver \(Judgement.receiverRelease) s after its last client "
            + "unless it runs with -n"
    }
}

extension LocationManager {
    /// Sends a live source away after a delivered fix, where the level says so. For holders of the turn.
    func beginRest() {
        guard rest == nil, case .gpsd = source, let length = restOfLevel(state.filter.settings.desiredAccuracy) else {
            return
        }
        let rest = Rest(began: monotonicSeconds(), length: length, end: now().addingTimeInterval(length / .seconds(1)))
        self.rest = rest
        monitor.rest()
        run?.control.rest(until: rest.deadline)
    }

    /// Lets a rest end when the present level says so, or at once where it has none. For holders of the turn.
    func adjustRest() {
        guard var rest else { return }
        let length = restOfLevel(state.filter.settings.desiredAccuracy)
        guard length != rest.length else { return }
        if let length {
            rest.end += (length - rest.length) / .seconds(1)
            rest.length = length
            self.rest = rest
        } else {
            self.rest = nil
        }
        run?.control.rest(until: self.rest?.deadline)
    }

    /// The first rest is worth a line in the log; the others are what it announces.
    func logFirstRest() {
        guard !hasLoggedRest, let rest else { return }
        hasLoggedRest = true
        logger.info(
            "\(state.filter.settings.desiredAccuracy.rawValue) rests for \(Int(rest.length / .seconds(1))) s after each point: \(rest.detail)."
        )
    }

    /// Says once that a receiver's dates and the machine's clock cannot both be right.
    func doubtDate(of location: Location) {
        guard !hasDoubtedDate, case .gpsd = source else { return }
        let seconds = location.timestamp.timeIntervalSince(now())
        guard seconds.magnitude > Judgement.dateDoubt else { return }
        hasDoubtedDate = true
        let days = Int((seconds.magnitude / 86_400).rounded())
        logger.warning(
            """
            The receiver's date \(ISO8601.string(location.timestamp)) is \(days) days \(seconds < 0 ? "behind" : "ahead of") \
            this machine's clock: one of them is wrong; 1024 weeks (7168 days) are a receiver's week rollover. \
            Points keep the receiver's times.
            """
        )
    }
}
