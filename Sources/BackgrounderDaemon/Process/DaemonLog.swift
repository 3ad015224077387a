import BackgrounderAPI
import Dispatch
import FoundationEssentials
import Glibc
package import Logging
import ServiceLog
import Synchronization
import SystemSupport

/// The log: one line per record, `2026-11-21T06:55:49.786Z info …`.
///
/// It goes to stderr on a terminal or under systemd, otherwise to a file. At 16 MiB the file is renamed to `….1`, replacing the
/// previous one, which is deleted once it is older than the retention.
///
/// Any thread may log, and none waits unless it says that it may block: lines are written on a queue of their own, or on such
/// a thread. A destination that is full or too slow loses lines and nothing else.
package final class DaemonLog: Sendable {
    /// Tuned: location and audio log 15 kB an hour at the default `log.progress`, so the older file alone covers 45 days.
    package static let fileLimit = 16 << 20
    private static let mostPending = 1000  // Tuned: more means that the destination hangs.

    private struct Destination {
        var descriptor: CInt
        var path: String?
        var size = 0
        var isStandardError = false
    }

    /// Complete lines that wait to be written.
    private struct Pending {
        var bytes: [UInt8] = []
        var lines = 0
        var isScheduled = false
    }

    /// The schedule for deleting the rotated file.
    private struct Retention {
        var age: Duration
        var now: @Sendable () -> Date?
        var next: ContinuousClock.Instant?
    }

    private let destination: Mutex<Destination>
    private let retention = Mutex<Retention?>(nil)
    private let currentLevel: Mutex<Logger.Level>
    private let pending = Mutex(Pending())
    /// The newest lines, if they go to stderr, where nobody can read them again.
    private let recent: Mutex<RecentLines?>
    private let queue = DispatchQueue(label: "backgrounder.log")
    private let fileLimit: Int

    /// Opens the log at `path`, or uses stderr on a terminal and under systemd, which `environment` tells.
    ///
    /// - Parameter fileLimit: the size of the file in bytes above which it is rotated.
    package init(
        path: String,
        level: Logger.Level,
        environment: [String: String],
        fileLimit: Int = DaemonLog.fileLimit
    ) {
        self.fileLimit = fileLimit
        currentLevel = Mutex(level)
        if isatty(STDERR_FILENO) == 1 || Self.isJournal(environment) {
            destination = Mutex(Destination(descriptor: STDERR_FILENO))
            recent = Mutex(RecentLines())
        } else {
            destination = Mutex(Self.openFile(path))
            recent = Mutex(nil)
        }
    }

    /// Returns the newest `count` records that `filter` includes, oldest first. Blocks while the disk works.
    func newest(_ count: Int, _ filter: LogFilter) -> [LogRecord] {
        if let records = recent.withLock({ $0?.newest(count, filter) }) { return records }
        flush()
        guard let path = destination.withLock({ $0.path }), let file = LogFile(path) else { return [] }
        return file.newest(count, filter)
    }

    package var level: Logger.Level {
        get { currentLevel.withLock { $0 } }
        set { currentLevel.withLock { $0 = newValue } }
    }

    /// Deletes the rotated file when its last line is older than `age`. This is checked with the next line, and then with the first
    /// line of each hour.
    ///
    /// - Parameter now: returns the current time, or `nil` while no clock is trusted, when nothing is deleted. Called on any
    ///   thread.
    func deleteRotated(after age: Duration, now: @escaping @Sendable () -> Date?) {
        retention.withLock { $0 = Retention(age: age, now: now) }
    }

    /// Returns a logger that writes to this log.
    package func makeLogger() -> Logger {
        Logger(label: "backgrounder") { _ in Handler(log: self) }
    }

    /// Returns a logger for libraries, which logs only warnings and errors.
    package func makeQuietLogger() -> Logger {
        Logger(label: "backgrounder.library") { _ in Handler(log: self, minimum: .warning) }
    }

    /// Redirects stderr to the log file, so that the runtime's report of a crash is kept.
    package func adoptStandardError() {
        destination.withLock { destination in
            guard destination.path != nil else { return }
            destination.isStandardError = true
            dup2(destination.descriptor, STDERR_FILENO)
        }
    }

    /// Writes all lines that wait, and waits for that, at most 1 s.
    package func flush() {
        let isWritten = DispatchSemaphore(value: 0)
        // A thread that logs may not have scheduled its lines yet, so they are not left to it.
        queue.async { [self] in
            destination.withLock { writePending(to: &$0) }
            isWritten.signal()
        }
        _ = isWritten.wait(timeout: .now() + 1)  // Tuned: half of the 2 s that a stop may take.
    }

    /// Writes `count` lines.
    ///
    /// - Parameters:
    ///   - mayBlock: whether the calling thread may wait for the disk.
    ///   - message: appends the text of each line, without control characters.
    func write(
        _ level: Logger.Level,
        count: Int = 1,
        mayBlock: Bool = false,
        _ message: (_ index: Int, _ line: inout TextBuffer) -> Void
    ) {
        guard level >= self.level, pending.withLock({ $0.lines < Self.mostPending }) else { return }
        var head = TextBuffer()
        head.append(Date())
        head.append(text: " \(level.rawValue) ")
        var lines = TextBuffer()
        for index in 0..<count {
            lines.append(head)
            message(index, &lines)
            lines.append("\n")
        }
        recent.withLock { $0?.append(lines.bytes) }
        let isScheduled = pending.withLock { pending in
            pending.bytes += lines.bytes
            pending.lines += count
            defer { pending.isScheduled = pending.isScheduled || !mayBlock }
            return pending.isScheduled
        }
        if isScheduled { return }
        guard mayBlock else { return schedule() }
        let isWritten = destination.withLockIfAvailable { destination in
            guard destination.path != nil else { return false }
            writePending(to: &destination)
            return true
        }
        if isWritten != true { schedule() }
    }

    private func schedule() {
        queue.async { [self] in destination.withLock { writePending(to: &$0) } }
    }

    private func writePending(to destination: inout Destination) {
        let bytes = pending.withLock { pending in
            defer { pending = Pending() }
            return pending.bytes
        }
        guard !bytes.isEmpty else { return }
        if let path = destination.path, destination.size > fileLimit {
            close(destination.descriptor)
            rename(path, path + ".1")
            let isStandardError = destination.isStandardError
            destination = Self.openFile(path)
            destination.isStandardError = isStandardError
            if isStandardError { dup2(destination.descriptor, STDERR_FILENO) }
        }
        if let path = destination.path { deleteRotatedIfDue(path + ".1") }
        let count = bytes.withUnsafeBytes { Glibc.write(destination.descriptor, $0.baseAddress, $0.count) }
        destination.size += max(0, count)
    }

    private func deleteRotatedIfDue(_ path: String) {
        retention.withLock { retention in
            guard let age = retention?.age, let now = retention?.now() else { return }
            if let next = retention?.next, .now < next { return }
            retention?.next = .now + .seconds(3600)
            var file = stat()
            guard stat(path, &file) == 0 else { return }
            let written = Date(timeIntervalSince1970: Double(file.st_mtim.tv_sec))
            if written < .earliestOfSetClock {
                // Written before the clock was set: its age counts from now on.
                var times = [timespec](
                    repeating: timespec(tv_sec: Int(now.timeIntervalSince1970), tv_nsec: 0),
                    count: 2
                )
                utimensat(AT_FDCWD, path, &times, 0)
            } else if now.timeIntervalSince(written) > age / .seconds(1) {
                unlink(path)
            }
        }
    }

    private static func openFile(_ path: String) -> Destination {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        let size = descriptor < 0 ? 0 : lseek(descriptor, 0, SEEK_END)
        return Destination(descriptor: descriptor, path: path, size: Int(size))
    }

    /// Returns whether stderr is the journal. The variable may be inherited, so it is compared with the file (systemd.exec(5)).
    private static func isJournal(_ environment: [String: String]) -> Bool {
        var file = stat()
        guard let stream = environment["JOURNAL_STREAM"], fstat(STDERR_FILENO, &file) == 0 else { return false }
        return stream == "\(file.st_dev):\(file.st_ino)"
    }

    private struct Handler: LogHandler {
        let log: DaemonLog
        var minimum = Logger.Level.trace
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level {
            get { max(log.level, minimum) }
            set { minimum = newValue }
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.write(event.level) { _, line in line.append(text: event.message.description.withoutControlCharacters) }
        }
    }
}
