import CLinux
package import FoundationEssentials
import Synchronization

/// A clock that returns the present time only if it can be trusted. A machine without a battery-backed clock starts in
/// the past, and a wrong system clock must not decide which points are deleted.
///
/// Two sources are trusted: GPS time from a receiver's fixes, extrapolated with the monotonic clock, and the system
/// clock while the kernel reports it synchronised (adjtimex(2)). If both are known, the earlier one counts, because it
/// deletes less. All methods may be called from any thread.
package final class TrustedClock: Sendable {
    private struct Fix {
        var time: Date
        var instant: ContinuousClock.Instant
    }

    private let newestFix = Mutex<Fix?>(nil)
    private let synchronised: @Sendable () -> Date?

    /// Creates a clock that knows no GPS time yet.
    ///
    /// - Parameter synchronised: returns the system time, or `nil` while it is not synchronised.
    package init(synchronised: @escaping @Sendable () -> Date? = TrustedClock.systemTime) {
        self.synchronised = synchronised
    }

    /// Sets the GPS time to that of a fix that a receiver has just delivered.
    func receive(fixTime time: Date) {
        newestFix.withLock { $0 = Fix(time: time, instant: .now) }
    }

    /// The present time; `nil` while no source is trusted.
    package var now: Date? {
        let satellites = newestFix.withLock { fix in
            fix.map { $0.time.addingTimeInterval((ContinuousClock.now - $0.instant) / .seconds(1)) }
        }
        return [satellites, synchronised()].compactMap(\.self).min()
    }

    /// Returns the kernel's time; `nil` while it is not synchronised.
    package static func systemTime() -> Date? {
        let milliseconds = clinux_synchronised_time()
        return milliseconds < 0 ? nil : Date(milliseconds: milliseconds)
    }
}
