import Dispatch
import Synchronization

/// Jobs that wait for one thread to run them.
package final class JobQueue: Sendable {
    /// A job with the executor that runs it, which lives until then. `nil` ends the queue.
    private typealias Entry = (job: UnownedJob, executor: any SerialExecutor)?

    private let entries = Mutex<[Entry]>([])
    private let added = DispatchSemaphore(value: 0)

    /// Creates an empty queue.
    package init() {}

    /// Appends `job`. Any thread.
    package func append(_ job: UnownedJob, for executor: any SerialExecutor) { append((job, executor)) }

    /// Lets ``run()`` return after the jobs that were appended so far. Any thread.
    package func end() { append(nil) }

    /// Runs jobs in the order of their arrival on the calling thread, and waits for more, until ``end()``.
    package func run() {
        while true {
            added.wait()
            guard let entry = entries.withLock({ $0.removeFirst() }) else { return }
            entry.job.runSynchronously(on: entry.executor.asUnownedSerialExecutor())
        }
    }

    private func append(_ entry: Entry) {
        entries.withLock { $0.append(entry) }
        added.signal()
    }
}
