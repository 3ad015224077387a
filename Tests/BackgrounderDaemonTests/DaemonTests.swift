import BackgrounderAPI
import FoundationEssentials
import Glibc
import Logging
import SystemSupport
import TestSupport
import Testing

@testable import BackgrounderDaemon

@Suite struct LogTests {
    @Test func `a logged location has the documented format and omits unknown values`() throws {
        let time = try #require(ISO8601.date("2014-12-22T04:05:13Z"))
        var location = Location(latitude: 37.33482105, longitude: -122.03350886, timestamp: time)
        func line() -> String {
            var buffer = TextBuffer()
            buffer.append(location)
            return buffer.string
        }
        #expect(line() == "<+37.33482105,-122.03350886> @ 2014-12-22T04:05:13.000Z")
        location.course = 255.94
        location.horizontalAccuracy = 5
        #expect(line() == "<+37.33482105,-122.03350886> +/- 5.00m (course 255.94) @ 2014-12-22T04:05:13.000Z")
        location.speed = 15.9
        #expect(
            line()
                == "<+37.33482105,-122.03350886> +/- 5.00m (speed 15.90 mps / course 255.94) @ 2014-12-22T04:05:13.000Z"
        )
    }

    @Test func `an inherited JOURNAL_STREAM does not redirect the log to the journal`() throws {
        let scratch = try ScratchDirectory()
        let path = scratch.file("backgrounder.log")
        let log = DaemonLog(path: path, level: .info, environment: ["JOURNAL_STREAM": "1:1"])
        log.makeLogger().info("here")
        log.flush()
        #expect(try String(contentsOfFile: path, encoding: .utf8).hasSuffix(" info here\n"))
    }

    @Test func `a batch is logged as one line per item, in order with single messages`() throws {
        let scratch = try ScratchDirectory()
        let path = scratch.file("backgrounder.log")
        let log = DaemonLog(path: path, level: .info, environment: [:])
        log.makeLogger().info("before")
        log.write(.info, count: 3) { index, line in line.append(text: "line \(index)") }
        log.write(.debug) { _, line in line.append("not at this level") }
        log.makeLogger().info("after")
        log.flush()
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(
            lines.map { $0.dropFirst(25) } == [
                "info before", "info line 0", "info line 1", "info line 2", "info after",
            ]
        )
    }

    @Test(arguments: [(8, true), (6, false), (nil, false)])
    func `a rotated file is deleted when it is older than the retention by a trusted clock`(
        days: Double?,
        isDeleted: Bool
    ) throws {
        let scratch = try ScratchDirectory()
        let log = DaemonLog(path: scratch.file("backgrounder.log"), level: .info, environment: [:])
        let rotated = try scratch.write("old\n", to: "backgrounder.log.1")
        log.deleteRotated(after: .seconds(7 * 86_400)) { days.map { Date(timeIntervalSinceNow: $0 * 86_400) } }
        log.makeLogger().info("a line")
        log.flush()
        #expect(FileManager.default.fileExists(atPath: rotated) == !isDeleted)
    }

    @Test func `a rotated file from before the clock was set is dated now`() throws {
        let scratch = try ScratchDirectory()
        let log = DaemonLog(path: scratch.file("backgrounder.log"), level: .info, environment: [:])
        let rotated = try scratch.write("old\n", to: "backgrounder.log.1")
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 9)],
            ofItemAtPath: rotated
        )
        let now = try #require(ISO8601.date("2030-01-01T00:00:00Z"))
        log.deleteRotated(after: .seconds(86_400)) { now }
        log.makeLogger().info("a line")
        log.flush()
        let date = try FileManager.default.attributesOfItem(atPath: rotated)[.modificationDate] as? Date
        #expect(date == now)
    }

    @Test func `the log file is bounded, and every record is one line without control characters`() throws {
        let scratch = try ScratchDirectory()
        let path = scratch.file("backgrounder.log")
        let log = DaemonLog(path: path, level: .info, environment: [:], fileLimit: 4 << 20)
        let logger = log.makeLogger()
        logger.info("title \u{1B}[31m\nred\u{9B}2J\u{202E}")
        logger.debug("not at this level")
        log.flush()
        let first = try String(contentsOfFile: path, encoding: .utf8)
        #expect(first.hasSuffix(" info title \u{FFFD}[31m\u{FFFD}red\u{FFFD}2J\u{FFFD}\n"))
        #expect(first.count { $0 == "\n" } == 1)
        let long = String(repeating: "x", count: 100_000)
        for _ in 0..<120 { logger.info("\(long)") }
        log.flush()
        for name in [path, path + ".1"] {
            var file = stat()
            #expect(stat(name, &file) == 0)
            #expect(file.st_size < 4_400_000)
        }
        #expect(!FileManager.default.fileExists(atPath: path + ".2"))
    }
}

@Suite struct InstanceLockTests {
    @Test func `a second instance is refused with the first one's pid until the first releases the lock`() throws {
        let scratch = try ScratchDirectory()
        let paths = RuntimePaths(home: scratch.path, environment: [:], userID: 0)
        try FileManager.default.createDirectory(atPath: paths.run, withIntermediateDirectories: true)
        let record = InstanceRecord(pid: 4711, configuration: "/c", source: "s", driver: "d")
        do {
            let first = try InstanceLock(paths, record: record)
            do {
                _ = try InstanceLock(paths, record: record)
                Issue.record("two instances")
            } catch {
                #expect(error.description.hasPrefix("already running, pid 4711;"))
            }
            _ = consume first
        }
        #expect(InstanceRecord.read(paths.instance) == record)
        _ = try InstanceLock(paths, record: record)
    }
}

@Suite struct ClockTests {
    @Test func `the event loops' clock sleeps, and a cancelled sleep ends immediately`() async throws {
        let clock = EventLoopClock.shared
        let start = clock.now
        try await clock.sleep(for: .milliseconds(30))
        #expect(clock.now - start >= .milliseconds(30))
        let sleeper = Task { try await clock.sleep(for: .seconds(60)) }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.now - start < .seconds(30))
    }
}
