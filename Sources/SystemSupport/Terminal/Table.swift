/// A table of text. Each column is as wide as its widest cell, and aligned left or right.
///
/// On a terminal that is too narrow the text columns become narrower, the widest first, and cut text ends with an
/// ellipsis. Numbers are not cut.
package struct Table {
    /// How a column is aligned and cut.
    package enum Alignment {
        /// Text, which may be cut.
        case left
        /// Numbers.
        case right
        /// A time, whose age may be cut.
        case time

        /// The width, in terminal columns, to which a column of `width` may be cut.
        fileprivate func least(of width: Int) -> Int {
            switch self {
            // Tuned: shorter names and dates cannot be told apart
            case .left: min(width, 8)
            case .time: min(width, 16)
            case .right: width
            }
        }
    }

    private let columns: [(heading: String, alignment: Alignment)]
    private var rows: [[String]] = []

    /// Creates a table without rows.
    package init(_ columns: [(heading: String, alignment: Alignment)]) {
        self.columns = columns
    }

    /// Adds a row with one cell for each column, with control characters replaced.
    package mutating func add(_ cells: [String]) {
        rows.append(cells.map(\.withoutControlCharacters))
    }

    /// Returns the lines of the table.
    ///
    /// - Parameter limit: the most terminal columns of a line; `nil` for any number.
    package func render(limit: Int? = StandardOutput.widthLimit) -> String {
        let all = [columns.map(\.heading)] + rows
        var widths = columns.indices.map { column in all.map { $0[column].terminalColumns }.max() ?? 0 }
        if let limit { narrow(&widths, to: limit) }
        let alignments = columns.map(\.alignment)
        return all.map { cells in
            guard let limit else { return Self.line(cells, alignments, widths) }
            return Self.line(zip(cells, widths).map { $0.cut(to: $1) }, alignments, widths).cut(to: limit)
        }.joined(separator: "\n")
    }

    private func narrow(_ widths: inout [Int], to limit: Int) {
        let least = zip(columns, widths).map { $0.alignment.least(of: $1) }
        var excess = widths.reduce(2 * (widths.count - 1), +) - limit
        while excess > 0 {
            let candidates = widths.indices.filter { widths[$0] > least[$0] }
            guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else { return }
            widths[widest] -= 1
            excess -= 1
        }
    }

    /// Returns one row with the given column widths.
    package static func line(_ cells: [String], _ alignments: [Alignment], _ widths: [Int]) -> String {
        var line = zip(cells, zip(alignments, widths)).map { cell, column in
            let padding = String(repeating: " ", count: max(0, column.1 - cell.terminalColumns))
            return column.0 == .right ? padding + cell : cell + padding
        }.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return line
    }
}
