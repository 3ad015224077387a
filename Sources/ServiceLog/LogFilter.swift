package import BackgrounderAPI
package import FoundationEssentials
import SystemSupport

/// A condition for lines of the log.
package struct LogFilter: Sendable {
    private let since: Date?
    private let until: Date?
    /// The least severe level.
    private let level: LogLevel?
    /// A text that the line contains, ignoring case.
    private let text: String?

    /// ``text`` in lower case.
    private let words: String?
    /// ``since`` and ``until`` as the log writes them. These texts sort like the times.
    private let range: (since: [UInt8]?, until: [UInt8]?)

    /// Creates a condition.
    package init(since: Date? = nil, until: Date? = nil, level: LogLevel? = nil, text: String? = nil) {
        (self.since, self.until, self.level, self.text) = (since, until, level, text)
        words = text?.lowercased()
        range = (since.map { Array(ISO8601.string($0).utf8) }, until.map { Array(ISO8601.string($0).utf8) })
    }

    /// Returns whether `line` begins with a time outside the range, without decoding the line: a log has hundreds of
    /// thousands of lines.
    func excludes(timeOf line: ArraySlice<UInt8>) -> Bool {
        guard range.since != nil || range.until != nil else { return false }
        let time = line.prefix(24)
        guard time.count == 24, time.last == UInt8(ascii: "Z"), time.first == UInt8(ascii: "2") else { return false }
        return range.since.map { time.lexicographicallyPrecedes($0) } ?? false
            || range.until.map { !time.lexicographicallyPrecedes($0) } ?? false
    }

    /// Returns whether `record` meets the condition.
    ///
    /// - Parameter time: the time of a record that has none, which is that of the record before it. Without either,
    ///   the record is in no range of times.
    package func includes(_ record: LogRecord, at time: Date? = nil) -> Bool {
        isInRange(record.timestamp ?? time) && isSevere(record) && hasText(record)
    }

    private func isInRange(_ time: Date?) -> Bool {
        guard since != nil || until != nil else { return true }
        guard let time else { return false }
        return since.map { time >= $0 } ?? true && until.map { time < $0 } ?? true
    }

    private func isSevere(_ record: LogRecord) -> Bool {
        guard let level, let own = record.level.flatMap(LogLevel.init(rawValue:)) else { return true }
        return own >= level
    }

    private func hasText(_ record: LogRecord) -> Bool {
        words.map { record.message.lowercased().contains($0) } ?? true
    }
}
