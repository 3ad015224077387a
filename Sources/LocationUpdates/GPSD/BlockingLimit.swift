import CGPS
import Glibc

/// Runs `body` with a limit on each call of the kernel that it blocks in: the call fails with `EINTR` when `seconds` have
/// passed, and so does the next one 2 s later. Only for a thread of ours, which nobody minds to be interrupted.
///
/// libgps connects with no limit but the kernel's two minutes, and has no socket to show before that. Its connect(2) gives up
/// on any signal; `SIGURG` is the one that means nothing where it goes astray.
func limitingBlockingCalls<Result>(to seconds: Double, _ body: () -> Result) -> Result {
    // The kernel's first timer has the number 0, which looks like no timer.
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

/// A signal that nobody handles is ignored, and interrupts nothing.
private let handlesSignal: Bool = {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in }
    return sigaction(SIGURG, &action, nil) == 0
}()

/// Makes a timer that signals the calling thread; false where there is none to be had.
private func makeThreadTimer(_ timer: inout timer_t?) -> Bool {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGURG)
    // A thread that a pool's thread made has inherited its mask.
    guard pthread_sigmask(SIG_UNBLOCK, &signals, nil) == 0 else { return false }
    var event = sigevent()
    event.sigev_notify = Int32(SIGEV_THREAD_ID)
    event.sigev_signo = SIGURG
    event._sigev_un._tid = cgps_thread()
    return timer_create(CLOCK_MONOTONIC, &event, &timer) == 0
}
