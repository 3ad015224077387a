import Glibc

/// State shared by blocking threads, with a lock and a condition variable for each kind of thread.
///
/// Swift's `Mutex` has no condition variable, and a waiting thread must not hold the lock. A wait therefore takes a body
/// that is evaluated again after each signal. Bodies must be short and must not block.
final class Monitor<State>: @unchecked Sendable {  // the state is only touched with the lock held
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let conditions = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: WaitingRoom.allCases.count)
    private var state: State

    init(_ state: State) {
        self.state = state
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        for room in WaitingRoom.allCases { pthread_cond_init(conditions + room.rawValue, &attributes) }
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        for room in WaitingRoom.allCases { pthread_cond_destroy(conditions + room.rawValue) }
        pthread_mutex_destroy(mutex)
        conditions.deallocate()
        mutex.deallocate()
    }

    func withLock<Result, Failure>(_ body: (inout State) throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Blocks the calling thread until `body` returns `done`.
    func wait<Result>(in room: WaitingRoom, _ body: (inout State) -> WaitStep<Result>) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            switch body(&state) {
            case .done(let result): return result
            case .wait(nil): pthread_cond_wait(conditions + room.rawValue, mutex)
            case .wait(let deadline?):
                var time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
                pthread_cond_timedwait(conditions + room.rawValue, mutex, &time)
            }
        }
    }

    func signal(_ room: WaitingRoom) { pthread_cond_broadcast(conditions + room.rawValue) }
}

enum WaitingRoom: Int, CaseIterable { case decoder, output, announcer, keeper }

/// The result of a wait's body.
enum WaitStep<Result> {
    case done(Result)
    /// Wait for a signal, or until `monotonicNow()` reaches the time.
    case wait(until: Int64? = nil)
}

/// Returns the time of the monotonic clock in nanoseconds.
func monotonicNow() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// Sets the niceness of the calling thread only, from -20 to 19, if the system allows it. On Linux, setpriority(2) treats a
/// thread as a process.
func setNiceness(_ niceness: Int32) {
    setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
}
