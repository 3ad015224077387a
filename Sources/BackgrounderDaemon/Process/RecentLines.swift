import BackgrounderAPI
import ServiceLog

/// The newest lines of the log in memory.
struct RecentLines {
    /// Tuned: about 150 kB.
    private static let most = 1500

    /// A ring: the line at `next` is the oldest once the ring is full.
    private var lines: [[UInt8]] = []
    private var next = 0

    /// Appends complete lines.
    mutating func append(_ bytes: some Collection<UInt8>) {
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            if lines.count < Self.most {
                lines.append(Array(line))
            } else {
                lines[next] = Array(line)
                next = (next + 1) % Self.most
            }
        }
    }

    /// Returns the newest `count` records that `filter` includes, oldest first.
    func newest(_ count: Int, _ filter: LogFilter) -> [LogRecord] {
        var newest = NewestRecords(count: count, filter: filter)
        for line in (lines[next...] + lines[..<next]).reversed() where !newest.add(line[...]) { break }
        return newest.finish()
    }
}
