import ArgumentParser
import FoundationEssentials

/// A level of the service's log, from the least to the most severe.
enum LogLevel: String, FixedWord, Comparable {
    case trace, debug, info, notice, warning, error, critical

    static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// The condition of the lines that `backgrounder log` prints.
struct LogFilter {
    var since: Date?
    var until: Date?
    /// The least severe level.
    var level: LogLevel?
    /// A text that the line contains, ignoring case.
    var text: String? {
        didSet { words = text?.lowercased() }
    }

    /// ``text`` in lower case.
    private var words: String?

    init(since: Date? = nil, until: Date? = nil, level: LogLevel? = nil, text: String? = nil) {
        (self.since, self.until, self.level, self.text) = (since, until, level, text)
        words = text?.lowercased()
    }

    /// Returns whether `record` meets the condition.
    ///
    /// - Parameter time: the time of a record that has none, which is that of the record before it. Without either,
    ///   the record is in no range of times.
    func includes(_ record: LogRecord, at time: Date? = nil) -> Bool {
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
