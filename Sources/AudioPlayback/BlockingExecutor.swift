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

    enum Answer {
        case metadata(Metadata)
        /// The content tells nothing, and would not tell more when it is asked again.
        case nothing
        /// The file cannot be opened now; a disk may not be there yet.
        case closed
    }

    /// What is wrong with a file is said when its turn to be played comes.
    func read(_ path: String) -> Answer {
        guard let file = try? MediaFile(path: path) else { return .closed }
        return if let metadata = try? openSampleSource(file).metadata() { .metadata(metadata) } else { .nothing }
    }
}
