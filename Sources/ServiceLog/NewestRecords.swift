package import BackgrounderAPI
import FoundationEssentials

/// The newest records that a filter includes, collected from the newest line to the oldest.
package struct NewestRecords {
    private let count: Int
    private let filter: LogFilter
    private var records: [LogRecord] = []
    /// Lines without a time, newest first, that wait for the record before them.
    private var waiting: [LogRecord] = []

    /// Creates an empty collection.
    package init(count: Int, filter: LogFilter) {
        (self.count, self.filter) = (count, filter)
    }

    package var isComplete: Bool { records.count >= count }

    /// Adds the line before the ones that were added. Returns whether more lines are needed.
    package mutating func add(_ line: ArraySlice<UInt8>) -> Bool {
        guard !isComplete else { return false }
        if filter.excludes(timeOf: line) {
            // Lines without a time that follow this one are in no range either.
            waiting = []
            return true
        }
        let record = LogRecord(line: String(decoding: line, as: UTF8.self))
        if record.timestamp == nil {
            waiting.append(record)
        } else {
            addWaiting(at: record.timestamp)
            if filter.includes(record) { records.append(record) }
        }
        return !isComplete
    }

    /// Returns the records, oldest first.
    package mutating func finish() -> [LogRecord] {
        addWaiting(at: nil)
        return records.prefix(count).reversed()
    }

    private mutating func addWaiting(at time: Date?) {
        records += waiting.filter { filter.includes($0, at: time) }
        waiting = []
    }
}
