import FoundationEssentials
import Glibc

/// A report of a log of gpsd.
package struct LoggedReport: Hashable, Sendable {
    package var report: Report
    /// Counts the log's fixes, from 0 on; `nil` for what is no fix.
    package var index: Int?
    /// When it arrived: seconds since the log's first time (see ``LogClock``).
    package var instant: Double
}

/// Lines of a log that are no report of gpsd; they were read over.
package struct OddLines: Hashable, Sendable, CustomStringConvertible {
    package var path: String
    package var count: Int
    /// Of the first of them, from 1 on.
    package var line: Int

    package var description: String {
        count == 1
            ? "\(path):\(line): this line is none of gpsd's and was skipped"
            : "\(path):\(line): this line and \(count - 1) more are none of gpsd's and were skipped"
    }
}

/// Reads gpsd's JSON lines from a file, as `gpspipe -w` and our own recordings have them, a block at a time, whatever its size.
///
/// The lines go the way of those of a live gpsd: the same framing, the same decoder. A VERSION is what gpsd says first on each
/// connection. To be used by one thread at a time; it blocks on the file.
///
///     let reader = try GPSDLogReader(path: "drive.jsonl")
///     while let reports = try reader.next() { ... }
package final class GPSDLogReader {
    /// What was read over so far; `nil` where all was good.
    package private(set) var oddLines: OddLines?

    private let path: String
    private let file: TrackFile
    private var framer = LineFramer()
    private var decoder = GPSDDecoder(device: nil)
    private var clock = LogClock()
    private var fixCount = 0
    /// Complete lines before the block that is read.
    private var lineCount = 0
    private var lastByte = UInt8(ascii: "\n")
    private var isAtEnd = false
    /// Bytes that are read at once: less than what makes the framer read on, so that a block is one reading, and less than the
    /// longest line, so that an over-long one begins a block.
    private static let block = 16_000

    /// - Throws: where `path` cannot be opened, or is no regular file.
    package init(path: String) throws(TrackFault) {
        self.path = path
        file = try TrackFile(path: path)
    }

    /// What the next block of the file brings, perhaps nothing; `nil` after the last block.
    package func next() throws(TrackFault) -> [LoggedReport]? {
        if isAtEnd { return nil }
        var reports: [LoggedReport] = []
        var newlines = 0
        var lines = 0
        /// By their number among the lines of this block.
        var odd: [Int] = []
        var fault: TrackFault?
        let skippedBefore = framer.skipped
        _ = framer.fill { buffer in
            do throws(TrackFault) {
                let count = try read(into: buffer)
                newlines += buffer[..<count].count { $0 == UInt8(ascii: "\n") }
                return count
            } catch {
                fault = error
                return -1
            }
        } _: { line in
            if !take(line, &reports) { odd.append(lines) }
            lines += 1
        }
        if let fault { throw fault }
        // The end of an over-long line can only be the first in a block.
        for number in odd { note(line: lineCount + newlines - lines + number + 1) }
        lineCount += newlines
        if framer.skipped > skippedBefore {
            // One that goes on is the line after all that ended; one that ended was the first of the block.
            note(line: newlines > lines ? lineCount - newlines + 1 : lineCount + 1)
        }
        return reports
    }

    /// Reads a block; a last line without its end is given one.
    private func read(into buffer: UnsafeMutableRawBufferPointer) throws(TrackFault) -> Int {
        guard let base = buffer.baseAddress else { return 0 }
        let count = try file.read(into: base, capacity: min(buffer.count, Self.block)) { lineCount + 1 }
        guard count == 0 else {
            lastByte = buffer[count - 1]
            return count
        }
        isAtEnd = true
        guard lastByte != UInt8(ascii: "\n") else { return 0 }
        buffer[0] = UInt8(ascii: "\n")
        return 1
    }

    /// Notes what `line` says; false where that is nothing that gpsd says.
    private func take(_ line: UnsafeMutableBufferPointer<CChar>, _ reports: inout [LoggedReport]) -> Bool {
        // What was cut off in the middle of writing never reached a live client as a line.
        if isAtEnd, line.last != CChar(bitPattern: UInt8(ascii: "}")) { return false }
        if line.isVersion {
            // libgps keeps what it read before; a connection begins without.
            decoder = GPSDDecoder(device: nil)
            reports.append(LoggedReport(report: .reconnected, instant: clock.now))
            return true
        }
        switch decoder.decode(line, arrival: clock.now) {
        case .report(.fix(var fix)):
            fix.arrival = clock.advance(to: fix.time, device: fix.device)
            reports.append(LoggedReport(report: .fix(fix), index: fixCount, instant: clock.now))
            fixCount += 1
        case .report(let report):
            reports.append(LoggedReport(report: report, instant: clock.now))
        case .data, .devices, .watching, .refused, .other: break
        case .garbage: return line.allSatisfy { $0 == 0x20 }
        }
        return true
    }

    private func note(line: Int) {
        if let known = oddLines {
            oddLines = OddLines(path: path, count: known.count + 1, line: min(known.line, line))
        } else {
            oddLines = OddLines(path: path, count: 1, line: line)
        }
    }
}

extension UnsafeMutableBufferPointer<CChar> {
    fileprivate var isVersion: Bool {
        let prefix: StaticString = "{\"class\":\"VERSION\""
        guard count >= prefix.utf8CodeUnitCount, let baseAddress else { return false }
        return memcmp(baseAddress, prefix.utf8Start, prefix.utf8CodeUnitCount) == 0
    }
}
