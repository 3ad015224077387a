import BackgrounderAPI
import FoundationEssentials
import GRDB

/// Encodes a song's tags as one text, one `NAME=VALUE` per line. Values contain no newlines.
enum SongText {
    static func text(_ tags: [SongTag]) -> String {
        tags.map { "\($0.name.rawValue)=\($0.value)" }.joined(separator: "\n")
    }

    static func tags(_ text: String) -> [SongTag] {
        text.split(separator: "\n").compactMap { line in
            guard let equals = line.utf8.firstIndex(of: UInt8(ascii: "=")),
                let name = SongTagName(rawValue: String(line[..<equals]))
            else { return nil }
            return SongTag(name, String(line[line.utf8.index(after: equals)...]))
        }
    }
}

extension Song {
    /// The columns that ``init(row:)`` reads, in order.
    static let columns = "song.path, song.modified, song.duration, song.sampleRate, song.channels, song.tags"

    init(row: Row) {
        self.init(
            path: row[0],
            modified: Date(nanoseconds: row[1]),
            duration: row[2],
            sampleRate: row[3],
            channels: row[4],
            tags: SongText.tags(row[5])
        )
    }
}

extension Date {
    init(nanoseconds: Int64) { self.init(timeIntervalSince1970: Double(nanoseconds) / 1e9) }

    /// Nanoseconds since 1970, clamped to the range of `Int64`.
    var nanoseconds: Int64 { Int64(exactly: (timeIntervalSince1970 * 1e9).rounded()) ?? (self < Date() ? .min : .max) }
}
