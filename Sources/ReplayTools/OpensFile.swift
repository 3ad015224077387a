package import BackgroundFetch
package import BackgrounderAPI
package import FoundationEssentials
import Glibc
import SystemSupport

/// Reads `{"at": time}` lines from a file of any size, block by block.
///
/// Keeps only opens that are recent enough for a habit, and one per 5 minutes, so a file of any length takes a few megabytes.
package struct OpensFile {
    package private(set) var opens: [FetchOpen] = []
    private let path: String
    private let zone: LocalZone
    private let range: ClosedRange<Date>
    private var seen = Set<Int>()
    private var lineCount = 0

    /// Reads the file at `path`, which may be a pipe.
    ///
    /// - Parameter now: later opens are ignored.
    /// - Throws: ``OpensFileError`` with the line.
    package init(path: String, now: Date, zone: LocalZone) throws(OpensFileError) {
        self.path = path
        self.zone = zone
        range = now.addingTimeInterval(-FetchOpen.longestAge)...now
        // The file may be a pipe; without O_NONBLOCK, opening a FIFO waits for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let code = errno
            throw OpensFileError(
                path: path,
                reason: systemMessage(code),
                isMissing: code == ENOENT || code == ENOTDIR
            )
        }
        defer { close(descriptor) }
        _ = fcntl(descriptor, F_SETFL, 0)
        try readAll(descriptor)
    }

    private mutating func readAll(_ descriptor: Int32) throws(OpensFileError) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var line: [UInt8] = []
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw OpensFileError(path: path, reason: systemMessage(errno)) }
            guard count > 0 else { break }
            var block = buffer[..<count]
            while let end = block.firstIndex(of: UInt8(ascii: "\n")) {
                line += block[..<end]
                try parse(line)
                line.removeAll(keepingCapacity: true)
                block = block[(end + 1)...]
            }
            line += block
            guard line.count <= Self.longestLine else {
                throw OpensFileError(
                    path: path,
                    line: lineCount + 1,
                    reason: "the line is longer than \(Self.longestLine) bytes"
                )
            }
        }
        if !line.isEmpty { try parse(line) }
    }

    private mutating func parse(_ line: [UInt8]) throws(OpensFileError) {
        lineCount += 1
        if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }) {
            return
        }
        guard let open = try? JSON.decode(Line.self, from: Data(line)) else {
            let text = String(decoding: line.prefix(60), as: UTF8.self)
            throw OpensFileError(path: path, line: lineCount, reason: #"\#(text.debugDescription) is not {"at": time}"#)
        }
        guard range.contains(open.at),
            seen.insert(Int((open.at.timeIntervalSince1970 / 300).rounded(.down))).inserted
        else { return }
        opens.append(FetchOpen(at: open.at, secondsFromGMT: zone.secondsFromGMT(open.at)))
    }

    private struct Line: Decodable {
        var at: Date
    }

    private static let longestLine = 4096
}

/// The error for a file of opens that cannot be used.
package struct OpensFileError: Error, CustomStringConvertible {
    var path: String
    /// The 1-based line; `nil` if the file cannot be read.
    var line: Int?
    var reason: String
    /// Whether the file does not exist.
    package var isMissing = false

    package var description: String {
        let place = line.map { "\(path):\($0)" } ?? "cannot read \(path)"
        let hint = line == nil ? "name a file with" : "write"
        return #"\#(place): \#(reason); \#(hint) a line like {"at": "2026-03-02T08:30:00Z"} for each open"#
    }
}
