import Dispatch

/// An executor for actors that wait for the disk: a serial dispatch queue, which occupies a thread only while it has work.
///
///     private let executor = QueueExecutor("backgrounder.import")
///     nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
package final class QueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    /// Creates an executor whose queue has the label `label`.
    package init(_ label: String) { queue = DispatchQueue(label: label) }

    /// Schedules a job of an actor. Any thread.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// Runs `body`, which may block, on the queue and returns its result. Any thread.
    package func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result { () throws(Failure) in try body() }) }
        }
        return try result.get()
    }
}
