import BackgrounderAPI
import Glibc
import Logging
import SystemSupport

/// The thread of a ``MusicLibrary``.
///
/// Changes are batched: a scan starts when nothing has happened for a while, or after ten times as long at the latest. So a
/// copy of a thousand files is not a thousand transactions.
struct LibraryThread: Sendable {
    private let directory: MusicDirectory
    private let index: any MusicIndex
    private let mailbox: LibraryMailbox
    private let logger: Logger
    private let onEvent: @Sendable (MusicLibraryEvent) -> Void

    /// The quiet time before a scan, in nanoseconds.
    private let quietTime: Int64

    init(
        _ directory: MusicDirectory,
        _ index: any MusicIndex,
        _ mailbox: LibraryMailbox,
        _ logger: Logger,
        quietTime: Duration,
        _ onEvent: @escaping @Sendable (MusicLibraryEvent) -> Void
    ) {
        self.quietTime = max(1, Int64(quietTime.seconds * 1e9))
        (self.directory, self.index, self.mailbox) = (directory, index, mailbox)
        (self.logger, self.onEvent) = (logger, onEvent)
    }

    /// The events that have not been scanned yet.
    private struct UnscannedEvents {
        var events: Set<DirectoryWatch.Event> = []
        var first: Int64 = 0
        var last: Int64 = 0

        /// Returns when the next scan is due.
        func due(_ quietTime: Int64) -> Int64? { events.isEmpty ? nil : min(last + quietTime, first + 10 * quietTime) }

        mutating func add(_ new: Set<DirectoryWatch.Event>) {
            if new.isEmpty { return }
            last = MonotonicTime.now.nanoseconds
            if events.isEmpty { first = last }
            events.formUnion(new)
        }
    }

    private enum Availability { case unknown, present, missing }

    /// Runs until the mailbox ends.
    func run() {
        setNiceness(10)  // playback goes first
        let watch = DirectoryWatch(directory)
        if watch == nil {
            logger.warning(
                "Cannot watch the music directory: \(systemMessage(errno)); run MPD's `update` after changes"
            )
        }
        var unscanned = UnscannedEvents()
        var availability = Availability.unknown
        var hasSaidRefusal = false
        while !mailbox.isEnded {
            if let job = mailbox.next() {
                look(watch, &availability, isAsked: true) { scan throws in
                    try scan.scan(job.path, deep: true, rescan: job.rescan)
                }
            } else if let due = unscanned.due(quietTime), due <= MonotonicTime.now.nanoseconds {
                let events = unscanned.events
                unscanned = UnscannedEvents()
                mailbox.begin()
                look(watch, &availability, isAsked: false) { scan throws in try Self.scan(events, &scan) }
            } else {
                // Rounded up, so that it does not wake too early.
                let wait =
                    unscanned.due(quietTime).map {
                        CInt(clamping: max(0, $0 - MonotonicTime.now.nanoseconds) / 1_000_000 + 1)
                    }
                    ?? -1
                mailbox.wait(for: watch?.descriptor ?? -1, milliseconds: wait)
                let events = watch?.events() ?? []
                if events.contains(.playlists) { onEvent(.playlists) }
                unscanned.add(events.subtracting([.playlists]))
            }
            if let watch, let refusal = watch.refusal, !hasSaidRefusal {
                hasSaidRefusal = true
                logger.warning(
                    """
                    Cannot watch more than \(watch.count) folders of the music directory: \(systemMessage(refusal)); \
                    raise fs.inotify.max_user_watches, or run MPD's `update` after changes
                    """
                )
            }
        }
        mailbox.finish()
    }

    /// Runs a job. After a failure, the next job scans everything.
    private func look(
        _ watch: DirectoryWatch?,
        _ availability: inout Availability,
        isAsked: Bool,
        _ body: (inout LibraryScan) throws -> Void
    ) {
        onEvent(.update)
        defer {
            mailbox.finish()
            onEvent(.update)
        }
        do {
            if availability == .unknown { try index.open(directory: directory.root) }
            var scan = try LibraryScan(directory, index, watch, logger) { [mailbox] in mailbox.isEnded }
            // Report what was committed before a failure.
            defer { if scan.tally.isChanged { onEvent(.database) } }
            if isReadable {
                watch?.stopWaiting()
                if availability == .present {
                    try body(&scan)
                } else {
                    // Scan everything, because all of it may be new.
                    try scan.scan("", deep: true)
                    availability = .present
                }
            } else {
                if availability != .missing {
                    logger.warning(
                        "Cannot read the music directory \(directory.root): \(systemMessage(errno)); waiting for it"
                    )
                }
                availability = .missing
                watch?.waitForDirectory()
                try scan.forgetEverything()
                // It may have appeared meanwhile.
                if isReadable { _ = mailbox.add("", rescan: false) }
            }
            tell(scan, isAsked: isAsked)
        } catch {
            if mailbox.isEnded { return }
            availability = .unknown
            logger.error("Cannot update the music database: \(error); retrying after the next change or `update`")
        }
    }

    private var isReadable: Bool {
        guard let stream = opendir(directory.absolute("")) else { return false }
        closedir(stream)
        return true
    }

    private func tell(_ scan: LibraryScan, isAsked: Bool) {
        let tally = scan.tally
        if tally.tooMany > 0 {
            logger.warning(
                """
                Left \(tally.tooMany) files or folders out of the music database, which is limited to \
                \(LibraryScan.mostSongs) songs in \(LibraryScan.mostFolders) folders; \
                set audio.musicDirectory to a smaller directory
                """
            )
        }
        guard tally.isChanged || isAsked else { return }
        let seconds = (scan.duration * 10).rounded() / 10
        let silent = tally.silent > 0 ? ", \(tally.silent) without sound" : ""
        logger.info(
            """
            Music database: \(counted(scan.songs, "song")); \(tally.added) new, \(tally.updated) changed, \
            \(tally.removed) removed\(silent), in \(seconds) s
            """
        )
    }

    private static func scan(_ events: Set<DirectoryWatch.Event>, _ scan: inout LibraryScan) throws {
        if events.contains(.everything) {
            try scan.scan("", deep: true)
            return
        }
        for case .changed(let folder) in events { try scan.scan(folder, deep: false) }
        // Last, so that moved files are removed at their old path before they are found at the new one.
        for case .appeared(let folder) in events { try scan.scan(folder, deep: true) }
    }
}
