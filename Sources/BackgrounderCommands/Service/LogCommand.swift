import ArgumentParser
import BackgrounderAPI
import FoundationEssentials
import Glibc
import ServiceLog
import SystemSupport

struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show the newest log lines.",
        discussion: """
            The service does not need to run. On a terminal, times are local; in a pipe and \
            as JSON, they are UTC. \(HistoryRange.times) \
            A line without a level, such as one of a crash report, counts as critical.

            Under systemd, or in the foreground on a terminal, the service logs to stderr \
            and not to this log; for systemd, see `journalctl -u backgrounder`.

            EXAMPLES
              backgrounder log -n 50
              backgrounder log --since yesterday --level warning
              backgrounder log --since 2h --grep gpsd
              backgrounder log -f                      # until Ctrl-C
            """
    )

    @Option(
        name: .short,
        help: ArgumentHelp("Number of lines (default 20, or all with --since).", valueName: "n"),
        transform: wholeNumber("a number of lines from 0, such as 50")
    )
    var n: Int?

    @Option(help: ArgumentHelp("Only lines at or after this time.", valueName: "time"), transform: PointInTime.parse)
    var since: PointInTime?

    @Option(help: ArgumentHelp("Only lines before this time.", valueName: "time"), transform: PointInTime.parse)
    var until: PointInTime?

    @Option(help: ArgumentHelp("Only lines of this level and of more severe ones.", valueName: "level"))
    var level: LogLevel?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only lines with this text, in upper or lower case.", valueName: "text")
    )
    var grep: String?

    @Flag(name: .shortAndLong, help: "Keep printing new lines until Ctrl-C.")
    var follow = false

    @OptionGroup var reading: ReadingOptions

    func validate() throws {
        if let n, n < 0 { throw ValidationError("-n \(n) is out of range; use 0 or more") }
        try PointInTime.check(since: since, until: until)
        if follow, until != nil { throw ValidationError("--follow cannot be combined with --until; omit one of them") }
        if grep == "" { throw ValidationError("--grep is empty; name a text, or omit it") }
    }

    private var filter: LogFilter {
        LogFilter(since: since?.date, until: until?.date, level: level, text: grep)
    }

    private var count: Int { n ?? (since == nil ? 20 : .max) }

    func run() async throws {
        let file = try LogFile.existing(reading.service.paths.log)
        let records = file.newest(count, filter)
        switch (reading.format, follow) {
        case (.json, false): try Output.json(records)
        default: for record in records { try show(record) }
        }
        guard follow else { return }
        try file.follow { line in
            let record = LogRecord(line: line)
            if filter.includes(record) { try show(record) }
        }
    }

    private func show(_ record: LogRecord) throws {
        switch reading.format {
        case .json: try Output.json(record)
        case .table: try Output.print(record.line(isLocal: StandardOutput.isTerminal).withoutControlCharacters)
        }
    }
}

extension LogLevel: FixedWord {}

extension LogRecord {
    /// The line as the service wrote it, or with its time as local time and the offset from UTC.
    func line(isLocal: Bool) -> String {
        guard let timestamp, let level else { return message }
        return "\(isLocal ? timestamp.localText : ISO8601.string(timestamp)) \(level) \(message)"
    }
}

extension LogFile {
    /// Opens the log at `path`.
    ///
    /// - Throws: ``CommandFailure``.
    static func existing(_ path: String) throws -> LogFile {
        if let file = LogFile(path) { return file }
        let code = errno
        guard code != ENOENT else {
            throw CommandFailure("no log at \(path); the service has not run with this home, or it logs to the journal")
        }
        throw CommandFailure("cannot open \(path): \(systemMessage(code)); check the file's mode")
    }
}
