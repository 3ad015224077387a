import BackgrounderAPI
import FoundationEssentials
import SystemSupport
import Testing

@testable import BackgrounderCommands

/// The tables, lines and errors that commands print.
@Suite struct OutputTests {
    @Test func `columns fit their widest cells, numbers are right-aligned, and lines have no trailing spaces`() {
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

    @Test func `a table without rows is only its heading`() {
        #expect(Table([("ID", .right), ("NAME", .left)]).render() == "ID  NAME")
    }

    @Test func `control characters in a cell are replaced`() {
        var table = Table([("NAME", .left)])
        table.add(["a\u{1B}[31mb\nc"])
        #expect(table.render() == "NAME\na\u{FFFD}[31mb\u{FFFD}c")
    }

    @Test func `columns are aligned by their width on a terminal, where some characters are two columns wide`() {
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

    private static func files() -> Table {
        var table = Table([("ID", .right), ("AT", .time), ("FILE", .left), ("URL", .left)])
        table.add(["1234567890", "07:55:49 (2 min ago)", "/srv/in/a.mp3", "https://example.com/podcasts/episode.mp3"])
        table.add(["1", "07:55:50 (2 min ago)", "/srv/in/日本の歌.mp3", "https://example.com/"])
        return table
    }

    @Test func `a table that fits, or goes to a pipe, is not cut`() {
        let whole = Self.files().render(limit: nil)
        #expect(whole.split(separator: "\n").map { String($0).terminalColumns } == [59, 96, 76])
        #expect(Self.files().render(limit: 96) == whole)
    }

    @Test func `the widest text of a table is cut first, with an ellipsis, and numbers are not`() {
        #expect(
            Self.files().render(limit: 80) == """
                        ID  AT                    FILE                  URL
                1234567890  07:55:49 (2 min ago)  /srv/in/a.mp3         https://example.com/pod…
                         1  07:55:50 (2 min ago)  /srv/in/日本の歌.mp3  https://example.com/
                """
        )
        #expect(
            Self.files().render(limit: 50) == """
                        ID  AT                FILE       URL
                1234567890  07:55:49 (2 min…  /srv/in/…  https://…
                         1  07:55:50 (2 min…  /srv/in/…  https://…
                """
        )
    }

    @Test(arguments: 1...100) func `no line of a table is wider than the terminal`(columns: Int) {
        for line in Self.files().render(limit: columns).split(separator: "\n") {
            #expect(String(line).terminalColumns <= columns, "\(line)")
        }
    }

    @Test(arguments: [(5, "日本…"), (4, "日 …"), (6, "日本の"), (7, "日本の"), (1, "…"), (0, "")])
    func `cut text ends with an ellipsis`(columns: Int, text: String) {
        #expect("日本の".cut(to: columns) == text)
    }

    @Test func `control and direction characters in lines are replaced, and line breaks are kept`() {
        #expect(["one", "two\u{7}\u{202E}", ""].printable == "one\ntwo\u{FFFD}\u{FFFD}\n")
    }

    @Test(arguments: [
        (0, "0 m"), (5, "5 m"), (4.75, "4.75 m"), (4.7, "4.7 m"), (99.999, "100 m"), (100, "100 m"), (1200.4, "1200 m"),
        (10, "10 m"),
    ])
    func `metres have no trailing zeros after the decimal point`(value: Double, text: String) {
        #expect(value.metres == text)
    }

    @Test func `a log record has a time, a level and a message`() throws {
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
    func `a log line that is not a record is a message without time and level`(line: String) throws {
        let record = LogRecord(line: line)
        #expect(record.timestamp == nil)
        #expect(record.level == nil)
        #expect(record.message == line)
        #expect(try JSON.line(record) == "{\"message\":\"\(line)\"}")
    }

    @Test func `a failed call gives one line with a hint, and exit code 4 if the item does not exist`() {
        let failure = CommandFailure(
            WireError(.notFound, "there is no item 7", hint: "`backgrounder queue` lists the ids")
        )
        #expect(failure.description == "there is no item 7; `backgrounder queue` lists the ids")
        #expect(failure.exitCode == 4)
        #expect(CommandFailure(WireError(.conflict, "no")).exitCode == 1)
        #expect(CommandFailure.notRunning.exitCode == 3)
    }
}
