import BackgrounderAPI
import Glibc
import Logging

/// The thread of a ``MusicLibrary``.
///
/// Changes are taken together: a look comes when nothing happened for a while, or after ten times as long, so that a copy of a
/// thousand files is not a thousand transactions.
struct LibraryThread: Sendable {
    private let directory: MusicDirectory
    private let index: any MusicIndex
    private let mailbox: LibraryMailbox
    private let logger: Logger
    private let onEvent: @Sendable (MusicLibraryEvent) -> Void

    /// Nanoseconds.
    private let rest: Int64

    init(
        _ directory: MusicDirectory,
        _ index: any MusicIndex,
        _ mailbox: LibraryMailbox,
        _ logger: Logger,
        rest: Duration,
        _ onEvent: @escaping @Sendable (MusicLibraryEvent) -> Void
    ) {
        self.rest = max(1, Int64(rest.seconds * 1e9))
        (self.directory, self.index, self.mailbox) = (directory, index, mailbox)
        (self.logger, self.onEvent) = (logger, onEvent)
    }

    /// What happened and was not looked at yet.
    private struct Unrest {
        var events: Set<DirectoryWatch.Event> = []
        var first: Int64 = 0
        var last: Int64 = 0

        /// When it is time to look.
        func due(_ rest: Int64) -> Int64? { events.isEmpty ? nil : min(last + rest, first + 10 * rest) }

        mutating func add(_ new: Set<DirectoryWatch.Event>) {
            if new.isEmpty { return }
            last = monotonicNow()
            if events.isEmpty { first = last }
            events.formUnion(new)
        }
    }

    private enum Standing { case unknown, present, missing }

    /// Until the mailbox ends.
    func run() {
        setNiceness(10)  // playback goes first
        let watch = DirectoryWatch(directory)
        if watch == nil {
            logger.warning(
                "The music directory cannot be watched: \(systemMessage(errno)); `update` looks at it again."
            )
        }
        var unrest = Unrest()
        var standing = Standing.unknown
        var hasSaidRefusal = false
        while !mailbox.isEnded {
            if let job = mailbox.take() {
                look(watch, &standing, isAsked: true) { scan throws in
                    try scan.scan(job.path, deep: true, rescan: job.rescan)
                }
            } else if let due = unrest.due(rest), due <= monotonicNow() {
                let events = unrest.events
                unrest = Unrest()
                mailbox.begin()
                look(watch, &standing, isAsked: false) { scan throws in try Self.scan(events, &scan) }
            } else {
                // Rounded up, so that it does not wake a moment too early.
                let wait = unrest.due(rest).map { CInt(clamping: max(0, $0 - monotonicNow()) / 1_000_000 + 1) } ?? -1
                mailbox.wait(for: watch?.descriptor ?? -1, milliseconds: wait)
                let events = watch?.events() ?? []
                if events.contains(.playlists) { onEvent(.playlists) }
                unrest.add(events.subtracting([.playlists]))
            }
            if let watch, let refusal = watch.refusal, !hasSaidRefusal {
                hasSaidRefusal = true
                logger.warning(
                    """
                    The system watches no more than \(watch.count) folders of the music directory \
                    (\(systemMessage(refusal))); raise fs.inotify.max_user_watches, or `update` after changes.
                    """
                )
            }
        }
        mailbox.finish()
    }

    /// One job. After a failure the next one looks at everything.
    private func look(
        _ watch: DirectoryWatch?,
        _ standing: inout Standing,
        isAsked: Bool,
        _ body: (inout LibraryScan) throws -> Void
    ) {
        onEvent(.update)
        defer {
            mailbox.finish()
            onEvent(.update)
        }
        do {
            if standing == .unknown { try index.open(directory: directory.root) }
            var scan = try LibraryScan(directory, index, watch, logger) { [mailbox] in mailbox.isEnded }
            // What was committed before a failure is there.
            defer { if scan.tally.isChanged { onEvent(.database) } }
            if isReadable {
                watch?.stopWaiting()
                if standing == .present {
                    try body(&scan)
                } else {
                    // Whatever was asked for: all of it is new, or may be.
                    try scan.scan("", deep: true)
                    standing = .present
                }
            } else {
                if standing != .missing {
                    logger.warning(
                        "The music directory \(directory.root) cannot be read: \(systemMessage(errno)). It is waited for."
                    )
                }
                standing = .missing
                watch?.waitForDirectory()
                try scan.forgetEverything()
                // It may have come while nobody looked.
                if isReadable { _ = mailbox.add("", rescan: false) }
            }
            tell(scan, isAsked: isAsked)
        } catch {
            if mailbox.isEnded { return }
            standing = .unknown
            logger.error("The music database cannot be kept: \(error). The next change or `update` tries again.")
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
                \(tally.tooMany) files or folders are not in the music database, which takes \
                \(LibraryScan.mostSongs) songs in \(LibraryScan.mostFolders) folders; \
                name a smaller audio.musicDirectory.
                """
            )
        }
        guard tally.isChanged || isAsked else { return }
        let seconds = (scan.duration * 10).rounded() / 10
        let silent = tally.silent > 0 ? ", \(tally.silent) without sound" : ""
        logger.info(
            """
            Music database: \(scan.songs) songs; \(tally.added) new, \(tally.updated) changed, \
            \(tally.removed) gone\(silent), in \(seconds) s.
            """
        )
    }

    private static func scan(_ events: Set<DirectoryWatch.Event>, _ scan: inout LibraryScan) throws {
        if events.contains(.everything) {
            try scan.scan("", deep: true)
            return
        }
        for case .changed(let folder) in events { try scan.scan(folder, deep: false) }
        // Afterwards: what was moved away is forgotten before it is found again.
        for case .appeared(let folder) in events { try scan.scan(folder, deep: true) }
    }
}
