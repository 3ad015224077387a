import BackgrounderAPI
import Glibc
package import Logging
import ServiceLifecycle
import Synchronization

/// What the music database tells of itself.
package enum MusicLibraryEvent: Hashable, Sendable {
    /// A look at the directory begins or is over.
    case update
    /// Songs came, went or are others.
    case database
    /// A stored playlist did.
    case playlists
}

/// Keeps the music database like the music directory: a scan at its start, and then whatever inotify tells.
///
///     let library = MusicLibrary("/srv/music", index: index, logger: logger) { event in … }
///     try await library.run()
///
/// Its one thread has little priority and sleeps while nothing changes. Any thread may call the methods; events come on the
/// library's own.
package final class MusicLibrary: Service {
    package let directory: MusicDirectory
    private let index: any MusicIndex
    private let logger: Logger
    private let rest: Duration
    private let onEvent: @Sendable (MusicLibraryEvent) -> Void
    private let mailbox = LibraryMailbox()

    /// - Parameter rest: how long nothing must have happened before a look at what did.
    package init(
        _ directory: String,
        index: any MusicIndex,
        rest: Duration = .milliseconds(500),
        logger: Logger,
        onEvent: @escaping @Sendable (MusicLibraryEvent) -> Void
    ) {
        self.directory = MusicDirectory(directory)
        self.index = index
        self.logger = logger
        self.onEvent = onEvent
        self.rest = rest
        _ = mailbox.add("", rescan: false)
    }

    /// Works until the service ends. A file that is just being read is not waited for.
    package func run() async throws {
        let ended = AsyncStream<Void>.makeStream()
        let thread = LibraryThread(directory, index, mailbox, logger, rest: rest, onEvent)
        do {
            try detachThread(named: "music library") { thread.run() }
        } catch {
            logger.error("The system has no thread for the music database; it stays as it was: \(error).")
        }
        await withTaskCancellationOrGracefulShutdownHandler {
            for await _ in ended.stream {}
        } onCancelOrGracefulShutdown: { [mailbox] in
            mailbox.end()
            ended.continuation.finish()
        }
    }

    /// Looks at a file or folder again, `rescan` also where nothing seems to have changed.
    ///
    /// - Parameter path: normalised, relative to the music directory.
    /// - Returns: the number of the job, from 1.
    @discardableResult
    package func update(_ path: String, rescan: Bool) -> Int {
        defer { onEvent(.update) }
        return mailbox.add(path, rescan: rescan)
    }

    /// The job that is under way.
    package var updateJob: Int? { mailbox.job }
}
