import CLinux
import Glibc

/// A time of CLOCK_MONOTONIC: since the start of the machine, without sleep, the same for all processes.
package struct MonotonicTime: InstantProtocol, Sendable {
    /// Nanoseconds since the start of the machine.
    package var nanoseconds: Int64

    /// Creates the time `nanoseconds` after the start of the machine.
    init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Creates the time `seconds` after the start of the machine; up to 292 years, to the nanosecond.
    package init(seconds: Double) {
        nanoseconds = Int64((min(max(seconds, 0), 9e9) * 1e9).rounded())
    }

    /// The current time. Any thread.
    package static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// Seconds since the start of the machine.
    package var seconds: Double { Double(nanoseconds) / 1e9 }

    /// The time since the start of the machine.
    package var sinceStart: Duration { .nanoseconds(nanoseconds) }

    /// Returns the time that is `duration` later.
    package func advanced(by duration: Duration) -> MonotonicTime {
        let (seconds, attoseconds) = duration.components
        return MonotonicTime(nanoseconds: nanoseconds + seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    /// Returns the time that is `duration` after `time`.
    package static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime { time.advanced(by: duration) }

    /// Returns the time from this to `other`.
    package func duration(to other: MonotonicTime) -> Duration { .nanoseconds(other.nanoseconds - nanoseconds) }

    /// Returns whether `left` is earlier than `right`.
    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }
}
