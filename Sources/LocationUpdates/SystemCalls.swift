// libgps' header is the first to define timespec in this module, so an optimised build looks for it there.
import CGPS
import Glibc

/// Returns the seconds of the monotonic clock.
func monotonicSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
