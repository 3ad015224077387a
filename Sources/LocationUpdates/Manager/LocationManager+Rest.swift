import BackgrounderAPI
import FoundationEssentials
import Logging
import SystemSupport

/// A period in which a live source is disconnected from gpsd.
struct Rest {
    /// In seconds of the monotonic clock.
    var began: Double
    var length: Duration
    /// By the machine's clock, for display.
    var end: Date

    /// How long gpsd keeps a receiver open after its last client left (the constant in gpsd 3.22 is 60); in seconds.
    private static let receiverRelease = 61

    var deadline: Double { began + length / .seconds(1) }

    /// A description of the rest. It does not claim to save power, which cannot be known.
    var detail: String {
        let time = ISO8601.string(end).dropFirst("2026-11-21T".count).prefix("10:02:00".count)
        return
            "disconnected from gpsd until \(time)Z; gpsd closes the receiver \(Self.receiverRelease) s after its last client "
            + "unless it runs with -n"
    }
}

extension LocationManager {
    /// A larger difference between a receiver's date and the machine's clock is reported; NMEA weeks wrap at 1,024. In seconds.
    private static let dateDoubt = 7.0 * 86_400

    /// Begins a rest of a live source after a delivered fix, if the level has one. The caller must hold the turn.
    func beginRest() {
        guard rest == nil, case .gpsd = source, let length = restOfLevel(state.filter.settings.desiredAccuracy) else {
            return
        }
        let rest = Rest(
            began: MonotonicTime.now.seconds,
            length: length,
            end: now().addingTimeInterval(length / .seconds(1))
        )
        self.rest = rest
        monitor.rest()
        run?.control.rest(until: rest.deadline)
    }

    /// Adjusts the current rest to the current level, or ends it if the level has none. The caller must hold the turn.
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

    /// Logs the first rest, which announces the others.
    func logFirstRest() {
        guard !hasLoggedRest, let rest else { return }
        hasLoggedRest = true
        logger.info(
            "At \(state.filter.settings.desiredAccuracy.rawValue) the receiver rests for \(Int(rest.length / .seconds(1))) s after each point: \(rest.detail)"
        )
    }

    /// Warns once if the receiver's date and the machine's clock cannot both be right.
    func doubtDate(of location: Location) {
        guard !hasDoubtedDate, case .gpsd = source else { return }
        let seconds = location.timestamp.timeIntervalSince(now())
        guard seconds.magnitude > Self.dateDoubt else { return }
        hasDoubtedDate = true
        let days = Int((seconds.magnitude / 86_400).rounded())
        logger.warning(
            """
            The receiver's date \(ISO8601.string(location.timestamp)) is \(days) days \(seconds < 0 ? "behind" : "ahead of") \
            this machine's clock: one of them is wrong (a difference of 7168 days is the receiver's week rollover); \
            points keep the receiver's times
            """
        )
    }
}
