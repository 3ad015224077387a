import ArgumentParser
import FoundationEssentials
import Glibc
import SystemSupport

struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show the newest log lines.",
        discussion: """
            Under systemd, or in the foreground on a terminal, the service logs to stderr
            and not to this log; for systemd, see `journalctl -u backgrounder`.

            EXAMPLES
              backgrounder log -n 50
              backgrounder log -f                      # until Ctrl-C
            """
    )

    @Option(
        name: .short,
        help: ArgumentHelp("Number of lines (default 20).", valueName: "n"),
        transform: wholeNumber("a number of lines from 0, such as 50")
    )
    var n = 20

    @Flag(name: .short, help: "Keep printing new lines until Ctrl-C.")
    var follow = false

    @OptionGroup var reading: ReadingOptions

    func validate() throws {
        guard n >= 0 else { throw ValidationError("-n \(n) is out of range; use 0 or more") }
    }

    func run() async throws {
        let path = reading.service.paths.log
        guard let file = LogFile(path) else {
            throw CommandFailure(
                "no log at \(path); the service has not run with this home, or it logs to the journal"
            )
        }
        let lines = file.last(n)
        switch (reading.format, follow) {
        case (.json, false): try Output.json(lines.map(LogRecord.init(line:)))
        default: for line in lines { try show(line) }
        }
        if follow { try file.follow(show) }
    }

    private func show(_ line: String) throws {
        switch reading.format {
        case .json: try Output.json(LogRecord(line: line))
        case .table: try Output.print(line.withoutControlCharacters)
        }
    }
}

/// One line of the log.
struct LogRecord: Codable {
    /// Absent if the line is not a log record, such as a line of a crash report.
    var timestamp: Date?
    var level: String?
    var message: String

    init(line: String) {
        let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        if parts.count == 3, let time = ISO8601.date(parts[0]) {
            (timestamp, level, message) = (time, parts[1], parts[2])
        } else {
            message = line
        }
    }
}

/// The log file, read from its end.
final class LogFile {
    private let path: String
    private var descriptor: Int32
    private var rest: [UInt8] = []

    init?(_ path: String) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { return nil }
    }

    deinit {
        close(descriptor)
    }

    /// Returns the newest `count` lines; continues in the rotated file `.1` if this file has fewer.
    func last(_ count: Int) -> [String] {
        var lines = readLines()
        if lines.count < count, let older = LogFile(path + ".1") { lines = older.readLines() + lines }
        return lines.suffix(count)
    }

    /// Calls `body` with each appended line, without end. Waits with inotify, and follows a rotation.
    func follow(_ body: (String) throws -> Void) throws {
        let watch = inotify_init1(Int32(IN_CLOEXEC))
        defer { close(watch) }
        guard watch >= 0 else { throw CommandFailure("cannot watch \(path): \(systemMessage(errno))") }
        let folder = RuntimePaths.absolute(path + "/..")
        inotify_add_watch(watch, folder, UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO))
        var events = [UInt8](repeating: 0, count: 65_536)
        while true {
            for line in readLines() { try body(line) }
            reopenIfReplaced()
            for line in readLines() { try body(line) }
            guard read(watch, &events, events.count) > 0 else { return }
        }
    }

    private func readLines() -> [String] {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            guard count > 0 else { break }
            rest += chunk.prefix(count)
        }
        guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        let lines = rest[..<end].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        rest = Array(rest[(end + 1)...])
        return lines.map { String(decoding: $0, as: UTF8.self) }
    }

    private func reopenIfReplaced() {
        var now = stat()
        var mine = stat()
        guard stat(path, &now) == 0, fstat(descriptor, &mine) == 0, now.st_ino != mine.st_ino else { return }
        let new = open(path, O_RDONLY | O_CLOEXEC)
        guard new >= 0 else { return }
        close(descriptor)
        descriptor = new
    }
}
