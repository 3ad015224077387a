package import BackgrounderAPI
import Glibc
import SystemSupport

/// The log file of the service, read from its end.
package final class LogFile {
    private let path: String
    private var descriptor: Int32
    /// Where ``follow(_:)`` continues: after the last complete line that was read.
    private var position: off_t = 0

    /// Opens the log at `path`; `nil` if that fails, and `errno` then has the reason.
    package init?(_ path: String) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { return nil }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Returns the newest `count` records that `filter` includes, oldest first. If this file has fewer, continues in the
    /// rotated file `.1`. Reads no more of a file than it needs.
    package func newest(_ count: Int, _ filter: LogFilter) -> [LogRecord] {
        var newest = NewestRecords(count: count, filter: filter)
        forEachLineFromEnd { newest.add($0) }
        if !newest.isComplete, let older = LogFile(path + ".1"), older.inode != inode {
            older.forEachLineFromEnd { newest.add($0) }
        }
        return newest.finish()
    }

    /// Calls `body` with each appended line, without end. Waits with inotify, and follows a rotation.
    ///
    /// - Throws: ``LogWatchFailure`` if the file cannot be watched, and the errors of `body`.
    package func follow(_ body: (String) throws -> Void) throws {
        let watch = inotify_init1(Int32(IN_CLOEXEC))
        defer { close(watch) }
        guard watch >= 0 else { throw LogWatchFailure(path: path, reason: systemMessage(errno)) }
        let folder = RuntimePaths.absolute(path + "/..")
        inotify_add_watch(watch, folder, UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO))
        var events = [UInt8](repeating: 0, count: 65_536)
        while true {
            for line in readLines() { try body(line) }
            if reopenIfReplaced() {
                for line in readLines() { try body(line) }
            }
            guard Glibc.read(watch, &events, events.count) > 0 else { return }
        }
    }

    /// Calls `body` with each complete line, the newest first, until it returns `false`.
    private func forEachLineFromEnd(_ body: (ArraySlice<UInt8>) -> Bool) {
        let newline = UInt8(ascii: "\n")
        var start = lseek(descriptor, 0, SEEK_END)
        /// The bytes from `start` that are not handed out yet: the end of a line that begins before `start`.
        var rest: [UInt8] = []
        var isAtEnd = true
        while start > 0 {
            let length = min(start, 65_536)  // Tuned: 20 lines need one block, and a block fits into the cache.
            start -= length
            var bytes = bytes(from: start, Int(length)) + rest
            if isAtEnd {
                // The line after the last newline is not complete.
                guard let last = bytes.lastIndex(of: newline) else {
                    rest = bytes
                    continue
                }
                position = start + off_t(last) + 1
                bytes.removeSubrange(last...)
                isAtEnd = false
            }
            var end = bytes.endIndex
            while let before = bytes[..<end].lastIndex(of: newline) {
                guard body(bytes[(before + 1)..<end]) else { return }
                end = before
            }
            rest = Array(bytes[..<end])
        }
        if !isAtEnd { _ = body(rest[...]) }
    }

    private func bytes(from start: off_t, _ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let more = pread(descriptor, buffer.baseAddress! + filled, count - filled, start + off_t(filled))
                guard more > 0 else { return }
                filled += more
            }
        }
    }

    /// Returns the complete lines from ``position`` on, and moves it behind them.
    private func readLines() -> [String] {
        let size = lseek(descriptor, 0, SEEK_END)
        guard size > position else { return [] }
        let bytes = bytes(from: position, Int(size - position))
        guard let end = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        position += off_t(end) + 1
        return bytes[..<end].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    private var inode: ino_t {
        var file = stat()
        return fstat(descriptor, &file) == 0 ? file.st_ino : 0
    }

    private func reopenIfReplaced() -> Bool {
        var now = stat()
        guard stat(path, &now) == 0, now.st_ino != inode else { return false }
        let new = open(path, O_RDONLY | O_CLOEXEC)
        guard new >= 0 else { return false }
        close(descriptor)
        (descriptor, position) = (new, 0)
        return true
    }
}

/// The log file cannot be watched.
package struct LogWatchFailure: Error, CustomStringConvertible {
    let path: String
    let reason: String

    package var description: String { "cannot watch \(path): \(reason)" }
}
