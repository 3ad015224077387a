import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import ServiceLog

/// Reading the log file from its end, and conditions for its lines.
struct LogFileTests {
    private let scratch: ScratchDirectory
    private let path: String

    init() throws {
        scratch = try ScratchDirectory()
        path = scratch.file("backgrounder.log")
    }

    private static let lines = [
        "2026-11-20T10:00:00.000Z debug First",
        "2026-11-20T11:00:00.000Z info Lost the connection to gpsd",
        "2026-11-20T12:00:00.000Z warning Cannot save the player state",
        "Fatal error: index out of range",
        "2026-11-20T13:00:00.000Z error Cannot open GPSD",
        "2026-11-20T14:00:00.000Z info Stopped",
    ]

    private func read(_ count: Int, _ filter: LogFilter = LogFilter()) throws -> [String] {
        try #require(LogFile(path)).newest(count, filter).map(\.line)
    }

    private static func time(_ hour: Int) throws -> Date {
        try #require(ISO8601.date("2026-11-20T\(hour):00:00Z"))
    }

    @Test(arguments: [0, 1, 2, 5, 6, 100])
    func `the newest lines come from the file and then from the rotated one`(count: Int) throws {
        try scratch.write(Self.lines[..<4].map { $0 + "\n" }.joined(), to: "backgrounder.log.1")
        try scratch.write(Self.lines[4...].map { $0 + "\n" }.joined(), to: "backgrounder.log")
        #expect(try read(count) == Self.lines.suffix(count))
    }

    @Test func `a log of many blocks is read like a small one`() throws {
        let lines = (0..<20_000).map { "\(ISO8601.string(Date(timeIntervalSince1970: Double($0)))) info Line \($0)" }
        try scratch.write(lines.map { $0 + "\n" }.joined(), to: "backgrounder.log")
        #expect(try read(.max) == lines)
        #expect(try read(3) == lines.suffix(3))
    }

    @Test func `an empty log and an incomplete line have no lines`() throws {
        try scratch.write("", to: "backgrounder.log")
        #expect(try read(9) == [])
        try scratch.write("2026-11-20T10:00:00.000Z info Inc", to: "backgrounder.log")
        #expect(try read(9) == [])
        try scratch.write(Self.lines[0] + "\n2026-11-20T10:00:00.000Z info Inc", to: "backgrounder.log")
        #expect(try read(9) == [Self.lines[0]])
    }

    @Test func `since includes its time and until excludes it, and a line without a time has that of the one before`()
        throws
    {
        try scratch.write(Self.lines.map { $0 + "\n" }.joined(), to: "backgrounder.log")
        let since = try LogFilter(since: Self.time(12))
        #expect(try read(.max, since) == Self.lines.suffix(4))
        let range = try LogFilter(since: Self.time(11), until: Self.time(13))
        #expect(try read(.max, range) == Array(Self.lines[1...3]))
        #expect(try read(1, range) == [Self.lines[3]])
        try scratch.write("No time\n", to: "backgrounder.log")
        #expect(try read(.max, since) == [])
    }

    @Test func `a level selects itself and more severe ones, and lines without a level`() throws {
        try scratch.write(Self.lines.map { $0 + "\n" }.joined(), to: "backgrounder.log")
        #expect(try read(.max, LogFilter(level: .warning)) == Array(Self.lines[2...4]))
        #expect(try read(.max, LogFilter(level: .critical)) == [Self.lines[3]])
        #expect(try read(.max, LogFilter(level: .trace)) == Self.lines)
    }

    @Test func `grep finds a text in upper or lower case, and only in the message`() throws {
        try scratch.write(Self.lines.map { $0 + "\n" }.joined(), to: "backgrounder.log")
        #expect(try read(.max, LogFilter(text: "Gpsd")) == [Self.lines[1], Self.lines[4]])
        #expect(try read(1, LogFilter(text: "gpsd")) == [Self.lines[4]])
        #expect(try read(.max, LogFilter(text: "2026")) == [])
        #expect(try read(.max, LogFilter(text: ".*")) == [])
    }
}

extension LogRecord {
    /// The line in the file.
    fileprivate var line: String {
        guard let timestamp, let level else { return message }
        return "\(ISO8601.string(timestamp)) \(level) \(message)"
    }
}
