import BackgrounderAPI
import FoundationEssentials
import Testing

@testable import BackgrounderCommands

/// What commands print.
@Suite struct OutputTests {
    @Test func `A table's columns are as wide as their widest cells, numbers to the right, without blanks at the ends`()
    {
        var table = Table([("ID", .right), ("NAME", .left), ("s", .right), ("", .left)])
        table.add(["1", "short", "3.5", ""])
        table.add(["100", "a longer name", "12.25", "x"])
        #expect(
            table.render() == """
                 ID  NAME               s
                  1  short            3.5
                100  a longer name  12.25  x
                """
        )
    }

    @Test func `A table without rows is its heading`() {
        #expect(Table([("ID", .right), ("NAME", .left)]).render() == "ID  NAME")
    }

    @Test func `Control characters reach no cell`() {
        var table = Table([("NAME", .left)])
        table.add(["a\u{1B}[31mb\nc"])
        #expect(table.render() == "NAME\na\u{FFFD}[31mb\u{FFFD}c")
    }

    @Test func `Columns are those of the terminal, in which some characters are two wide`() {
        var table = Table([("NAME", .left), ("s", .right), ("", .right)])
        table.add(["日本の歌", "1", "歌"])
        table.add(["plain", "20", "x"])
        #expect(
            table.render() == """
                NAME       s
                日本の歌   1  歌
                plain     20   x
                """
        )
    }

    @Test func `Lines lose what a terminal would obey and keep their breaks`() {
        #expect(["one", "two\u{7}\u{202E}", ""].printable == "one\ntwo\u{FFFD}\u{FFFD}\n")
    }

    @Test(arguments: [
        (0, "0 m"), (5, "5 m"), (4.75, "4.75 m"), (4.7, "4.7 m"), (99.999, "100 m"), (100, "100 m"), (1200.4, "1200 m"),
        (10, "10 m"),
    ])
    func `Metres have no zeros behind the point`(value: Double, text: String) {
        #expect(value.metres == text)
    }

    @Test func `A record of the log is its time, level and message`() throws {
        let record = LogRecord(line: "2026-11-21T06:55:49.786Z info  New location is  <+1>")
        #expect(record.timestamp == ISO8601.date("2026-11-21T06:55:49.786Z"))
        #expect(record.level == "info")
        #expect(record.message == " New location is  <+1>")
        #expect(
            try JSON.line(record)
                == #"{"level":"info","message":" New location is  <+1>","timestamp":"2026-11-21T06:55:49.786Z"}"#
        )
    }

    @Test(arguments: ["", "Fatal error: index out of range", "2026-11-21T06:55:49.786Z info", "a b c d"])
    func `A line of the log that is no record is its message`(line: String) throws {
        let record = LogRecord(line: line)
        #expect(record.timestamp == nil && record.level == nil)
        #expect(record.message == line)
        #expect(try JSON.line(record) == "{\"message\":\"\(line)\"}")
    }

    @Test func `The failure of a call is one line with what to do, and 4 where there is no such item`() {
        let failure = CommandFailure(
            WireError(.notFound, "there is no item 7", hint: "`backgrounder queue` lists the ids")
        )
        #expect(failure.description == "there is no item 7; `backgrounder queue` lists the ids")
        #expect(failure.exitCode == 4)
        #expect(CommandFailure(WireError(.conflict, "no")).exitCode == 1)
        #expect(CommandFailure.notRunning.exitCode == 3)
    }
}
