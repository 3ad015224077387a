import Dispatch

/// A serial executor for actors that block on disk I/O. It occupies a thread of its own while it has work.
final class DiskExecutor: SerialExecutor {
    private let queue: DispatchQueue

    /// Creates an executor whose dispatch queue has the label `label`.
    init(_ label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
