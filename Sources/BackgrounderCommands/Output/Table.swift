import SystemSupport

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
