import BackgrounderAPI
import SystemSupport

/// Reads the metadata of files, one at a time.
package actor MetadataReader {
    private let executor = QueueExecutor("backgrounder.audio.metadata")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The metadata of a file, or why there is none.
    package enum Answer {
        case metadata(Metadata)
        /// The content has no metadata, and another read would not change that.
        case nothing
        /// The file cannot be opened now; its disk may not be mounted yet.
        case closed
    }

    /// Creates a reader.
    package init() {}

    /// Reads a file. Faults are not reported here but when the file plays.
    package func read(_ path: String) -> Answer {
        // The sound of an address is described while it plays.
        guard !StreamAddress.isAddress(path), let file = try? MediaFile(path: path) else { return .closed }
        return if let metadata = try? openSampleSource(file).metadata() { .metadata(metadata) } else { .nothing }
    }
}
