import Glibc

/// A lock with waiting rooms, one for each kind of thread: state that blocking threads share.
///
/// Swift's `Mutex` has no condition variable, and a thread that waits must not hold the state meanwhile: so a wait takes
/// a body that is asked again each time somebody signalled. Bodies are short and call nothing that blocks.
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

    /// Blocks the calling thread until `body` is done.
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

/// What the body of a wait has come to.
enum WaitStep<Result> {
    case done(Result)
    /// Until a signal, or until `monotonicNow()` reaches the time.
    case wait(until: Int64? = nil)
}

/// Nanoseconds of the clock that no one sets.
func monotonicNow() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// How much of the processor the calling thread alone leaves to others, from -20 (nothing) to 19, where the system allows it:
/// for setpriority(2) a thread of Linux is a process of its own.
func setNiceness(_ niceness: Int32) {
    setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
}
