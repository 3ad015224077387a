import Foundation

/// Seconds that this thread has computed so far: what others do on the machine makes them no more.
package func secondsComputed() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
