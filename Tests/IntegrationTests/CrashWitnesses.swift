import Foundation
import SystemSupport
import TestSupport
import Testing

/// A foreground service as a child of the test, which learns of its readiness as `backgrounder start` does.
final class ServiceLaunch: Sendable {
    private let process: ForegroundProcess
    private let ready: LineReader
    private let errors: LineReader

    init(_ service: Service, adding variables: [String: String] = [:]) throws {
        let (pipe, errorPipe) = (try PipeEnds(), try PipeEnds())
        process = try ForegroundProcess(
            Products.backgrounderd,
            ["--home", service.home, "--ready-descriptor", "3"],
            environment: service.environment.merging(variables) { $1 },
            descriptors: [2: errorPipe.writeEnd, 3: pipe.writeEnd]
        )
        close(pipe.writeEnd)
        close(errorPipe.writeEnd)
        ready = LineReader(pipe.readEnd)
        errors = LineReader(errorPipe.readEnd)
    }

    func send(_ signal: Int32) { process.kill(signal) }

    func kill(after seconds: Double) {
        let process = process
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { process.kill() }
    }

    /// Returns whether the service became ready before it ended.
    func isReady() async throws -> Bool {
        try await ready.wait(for: "readiness or the end") { lines, isAtEnd in
            lines.isEmpty ? (isAtEnd ? false : nil) : true
        }
    }

    func waitForEnd() async throws {
        let code = try await process.waitForEnd()
        let said = errors.lines.joined(separator: "\n")
        #expect(code == 128 + SIGKILL, "the service was not killed by the test: \(said)")
    }
}

/// The points in a copy of the database, read with the SQLite shell so that recovery is left to the service.
struct StoredPoints {
    var integrity = ""
    var count = 0
    var distinct = 0
    /// The times of the points at or after `since`.
    var newest: Set<Date> = []

    init(copiedFrom service: Service, since: Date?) async throws {
        let copy = try ScratchDirectory()
        let files = FileManager.default
        for suffix in ["", "-wal"] where files.fileExists(atPath: service.paths.database + suffix) {
            try files.copyItem(atPath: service.paths.database + suffix, toPath: copy.file("copy.sqlite" + suffix))
        }
        let first = since.map { Int64(($0.timeIntervalSince1970 * 1000).rounded()) } ?? .max
        let query = """
            PRAGMA integrity_check;
            SELECT count(*) FROM point; SELECT count(DISTINCT time) FROM point;
            SELECT time FROM point WHERE time >= \(first);
            """
        let run = try await ProgramRun.of(Programs.sqlite, [copy.file("copy.sqlite"), query])
        // A service killed before its first transaction has no tables yet.
        let isEmpty = run.errors.contains("no such table")
        try #require(run.exitCode == 0 || isEmpty, "\(run)")
        let lines = run.text.split(separator: "\n").map(String.init)
        integrity = lines.first ?? ""
        guard !isEmpty else { return }
        let numbers = lines.dropFirst().compactMap { Int64($0) }
        try #require(numbers.count >= 2, "\(run)")
        (count, distinct) = (Int(numbers[0]), Int(numbers[1]))
        newest = Set(numbers[2...].map { Date(timeIntervalSince1970: Double($0) / 1000) })
    }
}

/// A reader of the new lines of a growing log, which must stay below the size at which it is rotated.
struct LogFile {
    let path: String
    private var offset = 0

    init(path: String) {
        self.path = path
    }

    mutating func newLines() -> [String] {
        let content = FileManager.default.contents(atPath: path) ?? Data()
        defer { offset = content.count }
        return String(decoding: content.dropFirst(offset), as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
