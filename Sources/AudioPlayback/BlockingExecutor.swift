import Dispatch

/// An executor for actors whose work waits for disks. It has a thread of its own while there is work.
final class BlockingExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(_ label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

/// Reads the metadata of files, one at a time.
actor MetadataReader {
    private let executor = BlockingExecutor("audio metadata")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    enum Answer {
        case metadata(Metadata)
        /// The content has no metadata, and another read would not change that.
        case nothing
        /// The file cannot be opened now; its disk may not be mounted yet.
        case closed
    }

    /// Reads a file. Faults are not reported here but when the file plays.
    func read(_ path: String) -> Answer {
        guard let file = try? MediaFile(path: path) else { return .closed }
        return if let metadata = try? openSampleSource(file).metadata() { .metadata(metadata) } else { .nothing }
    }
}
