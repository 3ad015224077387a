import Dispatch
import Glibc
import Synchronization

/// Runs the location manager where its work comes up: on the source's thread while that hands over what it read, else on a queue.
///
/// The thread that was woken for a fix judges it, stores it and tells of it; handing it from thread to thread costs more than
/// all of that. What blocks runs beside the manager and not in its turn: on the source's thread too, or on a queue of its own,
/// so that a slow disk holds up neither the pool nor an answer of the manager.
///
/// It is the task executor of the task that takes the batches too: a continuation resumes on the pool, and only then on its actor.
package final class SourceExecutor: SerialExecutor, TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        /// A thread is at work on the jobs, or will be.
        var isClaimed = false
        /// The source's thread, while it hands something over.
        var host: pthread_t?
        /// For the host alone.
        var work: [@Sendable () -> Void] = []

        /// Whether this thread is the host.
        var isHost: Bool { host.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "backgrounder.location")
    private let blockingQueue = DispatchQueue(label: "backgrounder.location.journal")

    /// Whether this thread is a source's and hands something over: it may wait for a disk.
    package static var isHosting: Bool { pthread_getspecific(hostKey) != nil }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isDispatched = state.withLock { state in
            state.jobs.append(job)
            if state.isClaimed || state.isHost { return false }
            state.isClaimed = true
            return true
        }
        if isDispatched { queue.async { self.runJobs() } }
    }

    /// Calls `handOver`, and then does on this thread what that gave the manager to do, as far as it goes. The source's thread.
    func host(_ handOver: () -> Void) {
        state.withLock { $0.host = pthread_self() }
        pthread_setspecific(Self.hostKey, UnsafeRawPointer(bitPattern: 1))
        defer { pthread_setspecific(Self.hostKey, nil) }
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

    /// Calls `work`, which may block, in a moment. For the manager's jobs; the manager does other things meanwhile.
    func runBlocking(_ work: @escaping @Sendable () -> Void) {
        let isHost = state.withLock { state in
            if state.isHost { state.work.append(work) }
            return state.isHost
        }
        if !isHost { blockingQueue.async(execute: work) }
    }

    /// Runs jobs until there are none. For the thread that claimed them.
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

    private static let hostKey: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()
}
