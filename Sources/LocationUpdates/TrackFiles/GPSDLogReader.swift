import FoundationEssentials
import Glibc

/// A report from a gpsd log.
package struct LoggedReport: Hashable, Sendable {
    package var report: Report
    /// The 0-based number of the fix in the log; `nil` for other reports.
    package var index: Int?
    /// The time of arrival in seconds since the log's first time; see ``LogClock``.
    package var instant: Double
}

/// Reads gpsd's JSON lines from a file of any size, block by block, as `gpspipe -w` and `--record` write them.
///
/// The lines take the same path as those of a live gpsd: the same framing, the same decoder. A VERSION, gpsd's first line on each
/// connection, counts as a reconnect. One thread at a time; blocks on the file.
///
///     let reader = try GPSDLogReader(path: "drive.jsonl")
///     while let reports = try reader.next() { ... }
package final class GPSDLogReader {
    /// The lines that were skipped so far; `nil` if there were none.
    package private(set) var oddLines: OddLines?

    private let path: String
    private let file: TrackFile
    private var framer = LineFramer()
    private var decoder = GPSDDecoder(device: nil)
    private var clock = LogClock()
    private var fixCount = 0
    /// Complete lines before the current block.
    private var lineCount = 0
    private var lastByte = UInt8(ascii: "\n")
    private var isAtEnd = false
    /// Bytes per read: less than the framer's block, so that a block is one read, and less than the longest line, so that an
    /// over-long line begins a block.
    private static let block = 16_000

    /// Opens `path`.
    ///
    /// - Throws: ``TrackFault`` if the file cannot be opened or is not a regular file.
    package init(path: String) throws(TrackFault) {
        self.path = path
        file = try TrackFile(path: path)
    }

    /// Returns the reports of the next block, perhaps none; `nil` after the last block.
    ///
    /// - Throws: ``TrackFault`` if the file cannot be read.
    package func next() throws(TrackFault) -> [LoggedReport]? {
        if isAtEnd { return nil }
        var reports: [LoggedReport] = []
        var newlines = 0
        var lines = 0
        /// Numbers of skipped lines among those of this block.
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
            if !decode(line, into: &reports) { odd.append(lines) }
            lines += 1
        }
        if let fault { throw fault }
        // Only the first line end in a block can be that of an over-long line.
        for number in odd { note(line: lineCount + newlines - lines + number + 1) }
        lineCount += newlines
        if framer.skipped > skippedBefore {
            // An unfinished over-long line follows all complete ones; a finished one was the first of the block.
            note(line: newlines > lines ? lineCount - newlines + 1 : lineCount + 1)
        }
        return reports
    }

    /// Reads a block, adding a newline after the last line if it has none.
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

    /// Appends the report of `line`, if any; returns false if it is not a line of gpsd.
    private func decode(_ line: UnsafeMutableBufferPointer<CChar>, into reports: inout [LoggedReport]) -> Bool {
        // A line that was truncated while it was written never reached a live client.
        if isAtEnd, line.last != CChar(bitPattern: UInt8(ascii: "}")) { return false }
        if line.isVersion {
            // libgps keeps what it read before; a new connection starts empty.
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
