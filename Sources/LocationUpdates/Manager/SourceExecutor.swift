import Dispatch
import Glibc
import Synchronization

/// The executor of the location manager: the source's thread while it hands over a batch, otherwise a serial queue.
///
/// The thread that was woken for a fix filters, stores and publishes it, so that a fix wakes no other thread. Blocking work
/// runs outside of the manager's jobs, on the source's thread or on a queue of its own, so that a slow disk delays neither
/// the pool nor the manager's replies. docs/decisions/0004-location-executor.md compares it with a plain actor.
///
/// It is also the task executor of the task that receives batches, because a continuation resumes on the pool before it returns to its
/// actor.
final class SourceExecutor: SerialExecutor, TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        /// Whether a thread runs the jobs, or is about to.
        var isClaimed = false
        /// The source's thread, while it hands over a batch.
        var host: pthread_t?
        /// Blocking work for the host.
        var work: [@Sendable () -> Void] = []

        /// Whether the calling thread is the host.
        var isHost: Bool { host.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "backgrounder.location")
    private let blockingQueue = DispatchQueue(label: "backgrounder.location.journal")

    /// Whether the calling thread is the source's, which hands over a batch and may wait for a disk.
    var isHosting: Bool { state.withLock { $0.isHost } }

    /// Schedules a job of the manager. Any thread.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isDispatched = state.withLock { state in
            state.jobs.append(job)
            if state.isClaimed || state.isHost { return false }
            state.isClaimed = true
            return true
        }
        if isDispatched { queue.async { self.runJobs() } }
    }

    /// Calls `handOver`, then runs the resulting jobs and blocking work of the manager on this thread. The source's thread.
    func host(_ handOver: () -> Void) {
        state.withLock { $0.host = pthread_self() }
        handOver()
        while true {
            let (isClaimed, work): (Bool, [@Sendable () -> Void]) = state.withLock { state in
                if !state.isClaimed, !state.jobs.isEmpty {
                    state.isClaimed = true
                    return (true, [])
                }
                defer { state.work = [] }
                if state.work.isEmpty { state.host = nil }
                return (false, state.work)
            }
            if isClaimed {
                runJobs()
            } else if work.isEmpty {
                return
            }
            for item in work { item() }
        }
    }

    /// Schedules `work`, which may block, outside of the manager's jobs. Called by the manager's jobs.
    func runBlocking(_ work: @escaping @Sendable () -> Void) {
        let isHost = state.withLock { state in
            if state.isHost { state.work.append(work) }
            return state.isHost
        }
        if !isHost { blockingQueue.async(execute: work) }
    }

    /// Runs jobs until there are none. Only on the thread that claimed them.
    private func runJobs() {
        while true {
            let jobs = state.withLock { state in
                defer { state.jobs.removeAll(keepingCapacity: true) }
                state.isClaimed = !state.jobs.isEmpty
                return state.jobs
            }
            if jobs.isEmpty { return }
            for job in jobs {
                job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            }
        }
    }
}
