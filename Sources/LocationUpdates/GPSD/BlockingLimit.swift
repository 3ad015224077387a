import CGPS
import CLinux
import Glibc

/// Runs `body` with a time limit for its blocking system calls: the current call fails with `EINTR` after `seconds`, and the next
/// one 2 s later. Only for threads that may be interrupted by signals.
///
/// libgps connects without a timeout of its own and has no socket to poll before that. Its connect(2) fails on any signal.
/// `SIGURG` is used because it is harmless if it is delivered elsewhere.
func limitingBlockingCalls<Result>(to seconds: Double, _ body: () -> Result) -> Result {
    // The kernel's first timer has the number 0, which looks like `nil`.
    var timer: timer_t?
    guard handlesSignal, makeThreadTimer(&timer) else { return body() }
    defer { timer_delete(timer) }
    var times = itimerspec(
        it_interval: timespec(tv_sec: 2, tv_nsec: 0),
        it_value: timespec(tv_sec: Int(seconds), tv_nsec: Int(seconds.truncatingRemainder(dividingBy: 1) * 1e9))
    )
    timer_settime(timer, 0, &times, nil)
    return body()
}

/// Whether a handler is installed: an ignored signal does not interrupt system calls.
private let handlesSignal: Bool = {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in }
    return sigaction(SIGURG, &action, nil) == 0
}()

/// Creates a timer that signals the calling thread; returns false if the system refuses.
private func makeThreadTimer(_ timer: inout timer_t?) -> Bool {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGURG)
    // The thread may have inherited a mask that blocks the signal.
    guard pthread_sigmask(SIG_UNBLOCK, &signals, nil) == 0 else { return false }
    var event = sigevent()
    event.sigev_notify = Int32(SIGEV_THREAD_ID)
    event.sigev_signo = SIGURG
    event._sigev_un._tid = clinux_thread()
    return timer_create(CLOCK_MONOTONIC, &event, &timer) == 0
}
