import ArgumentParser
import BackgrounderAPI
import Foundation
import ServiceLog
import SystemSupport
import TestSupport
import Testing

@testable import BackgrounderCommands

/// The options of `log`, and the reasons why there is none.
struct LogCommandTests {
    @Test func `a log that cannot be opened says why`() throws {
        let scratch = try ScratchDirectory()
        let path = scratch.file("backgrounder.log")
        let missing = #expect(throws: CommandFailure.self) { try LogFile.existing(path) }
        #expect(missing?.description.hasPrefix("no log at \(path); ") == true)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
        let looped = #expect(throws: CommandFailure.self) { try LogFile.existing(path) }
        #expect(looped?.description.hasPrefix("cannot open \(path): ") == true)
        #expect(looped?.description.hasSuffix("; check the file's mode") == true)
    }

    @Test func `levels and other fixed words are accepted in any case`() throws {
        #expect(try LogCommand.parse(["--level", "WARNING"]).level == .warning)
        #expect(try LogCommand.parse(["--format", "Json"]).reading.format == .json)
        #expect(try LocationCommand.Accuracy.parse(["HUNDREDMETERS"]).level == .hundredMeters)
        #expect(try AudioCommand.Repeat.parse(["ON"]).value == .on)
        #expect(try parseMetres(["NONE"], zero: true) == .some(nil))
        #expect(try parseInterval("Minimum") == .minimum)
        #expect(try PointInTime.parse("TODAY").date == PointInTime.parse("today").date)
        #expect(throws: (any Error).self) { try LogCommand.parse(["--level", "loud"]) }
    }

    @Test(arguments: [
        ["--grep", ""], ["--follow", "--until", "now"], ["--since", "1h", "--until", "2h"], ["-n", "-1"],
    ])
    func `conditions that make no sense are refused`(arguments: [String]) {
        #expect(throws: (any Error).self) { try LogCommand.parse(arguments) }
    }

    @Test func `a local time has its offset from UTC`() throws {
        let date = try #require(ISO8601.date("2026-11-20T12:00:00Z"))
        let text = date.localText
        #expect(text.count == 29)
        #expect(ISO8601.date(text) == date)
        let offset = TimeZone.current.secondsFromGMT(for: date)
        #expect(text.hasPrefix(ISO8601.string(date.addingTimeInterval(Double(offset))).dropLast()))
    }
}
