import CLinux
package import FoundationEssentials
import Synchronization

/// The present time as far as it can be trusted: a machine without a battery-backed clock starts in the past, and a wrong
/// system clock must not decide what is deleted.
///
/// Two sources are trusted: GPS time from a receiver's fixes, carried on by the monotonic clock, and the system clock while
/// the kernel reports it synchronised (adjtimex(2)). Where both are known and disagree, the earlier one counts, which
/// deletes less. All methods may be called from any thread.
package final class TrustedClock: Sendable {
    private struct Fix {
        var time: Date
        var instant: ContinuousClock.Instant
    }

    private let newestFix = Mutex<Fix?>(nil)
    private let synchronised: @Sendable () -> Date?

    /// - Parameter synchronised: the system's time, or `nil` while it is not synchronised.
    package init(synchronised: @escaping @Sendable () -> Date? = TrustedClock.systemTime) {
        self.synchronised = synchronised
    }

    /// Notes the time of a fix that a receiver has just made.
    package func receive(fixTime time: Date) {
        newestFix.withLock { $0 = Fix(time: time, instant: .now) }
    }

    /// The present time; `nil` while no source of it is trusted.
    package var now: Date? {
        let satellites = newestFix.withLock { fix in
            fix.map { $0.time.addingTimeInterval((ContinuousClock.now - $0.instant) / .seconds(1)) }
        }
        return [satellites, synchronised()].compactMap(\.self).min()
    }

    /// The kernel's own time while it is synchronised.
    package static func systemTime() -> Date? {
        let milliseconds = clinux_synchronised_time()
        return milliseconds < 0 ? nil : Date(milliseconds: milliseconds)
    }
}
