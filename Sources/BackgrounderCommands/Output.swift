import ArgumentParser
import BackgrounderAPI
import Glibc

/// The output of a command on stdout and stderr.
enum Output {
    /// Writes `text` and a newline to stdout.
    ///
    /// - Throws: ``CommandFailure`` if the write fails; without a message if the reader of a pipe has exited, as `head`
    ///   does.
    static func print(_ text: String) throws {
        try write(text + "\n")
    }

    /// Writes `text` to stdout, without a newline.
    static func write(_ text: String) throws {
        do {
            try StandardOutput.write(text)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Writes `bytes`, which need not be valid text, to stdout.
    static func write(bytes: [UInt8]) throws {
        do {
            try StandardOutput.write(bytes: bytes)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Prints `value` as one line of JSON.
    static func json(_ value: some Encodable) throws {
        try print(try JSON.line(value).withEscapedControlCharacters)
    }

    /// Prints `items` as one line of JSON, encoding them one by one because a queue can be very long.
    static func items(_ items: [PlayerItem]) throws {
        var text = TextBuffer()
        for (index, item) in items.enumerated() {
            text.append(index == 0 ? "[" : ",")
            text.append(json: item)
        }
        text.append(items.isEmpty ? "[]" : "]")
        try print(text.string.withEscapedControlCharacters)
    }

    /// Writes one line to stderr.
    static func note(_ text: String) {
        let line = text.withoutControlCharacters + "\n"
        _ = line.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
    }

    /// Writes a question to stderr, without a newline; the answer is typed after it.
    static func ask(_ text: String) {
        _ = text.withoutControlCharacters.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
    }

    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Columns and rows of the terminal; 80 × 24 if stdout is not a terminal.
    static var terminalSize: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }
}

/// The output format of a command that prints a value.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    case table, json
}

/// A table of text. Each column is as wide as its widest cell, and aligned left or right.
struct Table {
    enum Alignment {
        case left, right
    }

    private let columns: [(heading: String, alignment: Alignment)]
    private var rows: [[String]] = []

    init(_ columns: [(heading: String, alignment: Alignment)]) {
        self.columns = columns
    }

    mutating func add(_ cells: [String]) {
        rows.append(cells.map(\.withoutControlCharacters))
    }

    func render() -> String {
        let all = [columns.map(\.heading)] + rows
        let widths = columns.indices.map { column in all.map { $0[column].terminalColumns }.max() ?? 0 }
        return all.map { Self.line($0, columns.map(\.alignment), widths) }.joined(separator: "\n")
    }

    /// Returns one row with the given column widths.
    static func line(_ cells: [String], _ alignments: [Alignment], _ widths: [Int]) -> String {
        var line = zip(cells, zip(alignments, widths)).map { cell, column in
            let padding = String(repeating: " ", count: max(0, column.1 - cell.terminalColumns))
            return column.0 == .left ? cell + padding : padding + cell
        }.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return line
    }
}
