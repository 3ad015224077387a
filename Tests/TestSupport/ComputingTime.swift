import Foundation

/// Returns the processor time of this thread in seconds, which other work on the machine does not increase.
package func secondsComputed() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
