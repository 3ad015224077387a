import Dispatch

/// An executor with a thread of its own while there is work, for actors whose work waits for disks.
final class BlockingExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(_ label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

/// Reads what files say about themselves, one after the other.
actor MetadataReader {
    private let executor = BlockingExecutor("audio metadata")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Nothing when the file cannot be read: that is said when its turn to be played comes.
    func read(_ path: String) -> Metadata? {
        guard let file = try? MediaFile(path: path) else { return nil }
        return try? openSampleSource(file).metadata()
    }
}
