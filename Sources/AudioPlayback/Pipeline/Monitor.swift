import Glibc

/// State shared by blocking threads, with a lock and a condition variable for each kind of thread.
///
/// Swift's `Mutex` has no condition variable, and a waiting thread must not hold the lock. A wait therefore takes a body
/// that is evaluated again after each signal. Bodies must be short and must not block.
final class Monitor<State>: @unchecked Sendable {  // the state is only touched with the lock held
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let rooms: WaitingRooms
    private var state: State

    init(_ state: State, _ rooms: WaitingRooms) {
        self.state = state
        self.rooms = rooms
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func withLock<Result, Failure>(_ body: (inout State) throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Blocks the calling thread until `body` returns `done`.
    func wait<Result>(as thread: PipelineThread, _ body: (inout State) -> WaitStep<Result>) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            switch body(&state) {
            case .done(let result): return result
            case .wait(let deadline): rooms.wait(as: thread, mutex, until: deadline)
            }
        }
    }
}

/// The kinds of threads that wait for the pipeline.
enum PipelineThread: Int, CaseIterable { case decoder, output, announcer, position }

/// The condition variables of a ``Monitor``, one for each kind of thread.
final class WaitingRooms: @unchecked Sendable {  // condition variables are safe on any thread
    private let conditions = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: PipelineThread.allCases.count)

    init() {
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        for thread in PipelineThread.allCases { pthread_cond_init(conditions + thread.rawValue, &attributes) }
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        for thread in PipelineThread.allCases { pthread_cond_destroy(conditions + thread.rawValue) }
        conditions.deallocate()
    }

    /// Makes the waiting threads of a kind evaluate the state again. Neither blocks nor allocates.
    func wake(_ thread: PipelineThread) { pthread_cond_broadcast(conditions + thread.rawValue) }

    fileprivate func wait(
        as thread: PipelineThread,
        _ mutex: UnsafeMutablePointer<pthread_mutex_t>,
        until deadline: Int64?
    ) {
        guard let deadline else {
            pthread_cond_wait(conditions + thread.rawValue, mutex)
            return
        }
        var time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
        pthread_cond_timedwait(conditions + thread.rawValue, mutex, &time)
    }
}

/// The result of a wait's body.
enum WaitStep<Result> {
    case done(Result)
    /// Wait for a signal, or until `MonotonicTime.now.nanoseconds` reaches the time.
    case wait(until: Int64? = nil)
}
