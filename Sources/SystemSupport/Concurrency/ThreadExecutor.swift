/// An executor with a thread of its own, for an actor that blocks and is used once: one thread starts faster than the pool of a
/// dispatch queue.
package final class ThreadExecutor: SerialExecutor {
    private let jobs = JobQueue()

    /// Starts the thread, which ends with the last reference to the executor.
    ///
    /// - Parameter name: the name of the thread, up to 15 bytes.
    /// - Throws: ``SystemRefusal`` if the system refuses a thread.
    package init(_ name: String) throws(SystemRefusal) {
        try detachThread(named: name, stackSize: smallStack) { [jobs] in jobs.run() }
    }

    deinit { jobs.end() }

    /// Schedules a job of an actor. Any thread.
    package func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job), for: self) }
}
