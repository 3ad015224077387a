import ArgumentParser
import BackgrounderAPI
import Glibc

/// What a command prints: the same value as a table for people and as JSON for scripts.
enum Output {
    /// Writes `text` and a newline to stdout.
    ///
    /// - Throws: ``CommandFailure`` when stdout takes nothing; without a message where its reader has left, as `head` does.
    static func print(_ text: String) throws {
        try write(text + "\n")
    }

    static func write(_ text: String) throws {
        do {
            try StandardOutput.write(text)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// As ``write(_:)``, for what may be no text.
    static func write(bytes: [UInt8]) throws {
        do {
            try StandardOutput.write(bytes: bytes)
        } catch {
            throw CommandFailure(error)
        }
    }

    static func json(_ value: some Encodable) throws {
        try print(try JSON.line(value).withEscapedControlCharacters)
    }

    /// As ``json(_:)``, for as many as there may be.
    static func items(_ items: [PlayerItem]) throws {
        var text = TextBuffer()
        for (index, item) in items.enumerated() {
            text.append(index == 0 ? "[" : ",")
            text.append(json: item)
        }
        text.append(items.isEmpty ? "[]" : "]")
        try print(text.string.withEscapedControlCharacters)
    }

    /// One line to stderr.
    static func note(_ text: String) {
        let line = text.withoutControlCharacters + "\n"
        _ = line.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
    }

    /// A question to stderr, behind which the answer is typed.
    static func ask(_ text: String) {
        _ = text.withoutControlCharacters.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
    }

    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Columns and rows of the terminal; 80 × 24 where there is none.
    static var terminalSize: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }
}

/// How a reading command prints.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    case table, json
}

/// Rows under headings, each column as wide as its widest cell; numbers may be set to the right.
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

    /// One row of a table whose widths are known beforehand.
    static func line(_ cells: [String], _ alignments: [Alignment], _ widths: [Int]) -> String {
        var line = zip(cells, zip(alignments, widths)).map { cell, column in
            let padding = String(repeating: " ", count: max(0, column.1 - cell.terminalColumns))
            return column.0 == .left ? cell + padding : padding + cell
        }.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return line
    }
}
