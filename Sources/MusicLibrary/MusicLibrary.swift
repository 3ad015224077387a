import Glibc
package import Logging
import ServiceLifecycle
import Synchronization
import SystemSupport

/// An event of the music database.
package enum MusicLibraryEvent: Hashable, Sendable {
    /// A scan of the directory begins or has ended.
    case update
    /// Songs were added, removed or changed.
    case database
    /// A stored playlist was added, removed or changed.
    case playlists
}

/// Keeps the music database in sync with the music directory: scans it at the start, then follows inotify.
///
///     let library = MusicLibrary("/srv/music", index: index, logger: logger) { event in … }
///     try await library.run()
///
/// Its thread has a low priority and sleeps while nothing changes. The methods may be called on any thread; events arrive on
/// the library's.
package final class MusicLibrary: Service {
    package let directory: MusicDirectory
    private let index: any MusicIndex
    private let logger: Logger
    private let quietTime: Duration
    private let onEvent: @Sendable (MusicLibraryEvent) -> Void
    private let mailbox = LibraryMailbox()

    /// Creates a library for the directory at `root`; ``run()`` starts it.
    ///
    /// - Parameter quietTime: the quiet time after a change before it is scanned.
    package init(
        _ directory: String,
        index: any MusicIndex,
        quietTime: Duration = .milliseconds(500),
        logger: Logger,
        onEvent: @escaping @Sendable (MusicLibraryEvent) -> Void
    ) {
        self.directory = MusicDirectory(directory)
        self.index = index
        self.logger = logger
        self.onEvent = onEvent
        self.quietTime = quietTime
        _ = mailbox.add("", rescan: false)
    }

    /// Runs until the service ends. Does not wait for a file that is being read.
    package func run() async throws {
        let ended = AsyncStream<Void>.makeStream()
        let thread = LibraryThread(directory, index, mailbox, logger, quietTime: quietTime, onEvent)
        do {
            try detachThread(named: "music library") { thread.run() }
        } catch {
            logger.error("Cannot start a thread for the music database, so it is not updated: \(error)")
        }
        await withTaskCancellationOrGracefulShutdownHandler {
            for await _ in ended.stream {}
        } onCancelOrGracefulShutdown: { [mailbox] in
            mailbox.end()
            ended.continuation.finish()
        }
    }

    /// Requests a scan of a file or folder, with `rescan` even of unchanged files.
    ///
    /// - Parameter path: a normalised path relative to the music directory.
    /// - Returns: the number of the job, from 1.
    @discardableResult
    package func update(_ path: String, rescan: Bool) -> Int {
        defer { onEvent(.update) }
        return mailbox.add(path, rescan: rescan)
    }

    /// The number of the current job.
    package var updateJob: Int? { mailbox.job }
}
