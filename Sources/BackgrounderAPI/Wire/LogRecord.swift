package import FoundationEssentials
import SystemSupport

/// A level of the service's log, from the least to the most severe.
package enum LogLevel: String, Codable, CaseIterable, Comparable, Sendable {
    case trace, debug, info, notice, warning, error, critical

    /// Returns whether `left` is less severe.
    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// One line of the log.
package struct LogRecord: Codable, Hashable, Sendable {
    /// Absent if the line is not a log record, such as a line of a crash report.
    package var timestamp: Date?
    package var level: String?
    package var message: String

    /// Parses a line of the log.
    package init(line: String) {
        let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        if parts.count == 3, let time = ISO8601.date(parts[0]) {
            (timestamp, level, message) = (time, parts[1], parts[2])
        } else {
            message = line
        }
    }
}
