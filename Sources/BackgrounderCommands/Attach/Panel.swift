import SystemSupport

/// A box with a title.
struct Panel {
    var title: String
    var lines: [String]
    /// The index of a line in reverse video.
    var reversed: Int?

    /// Returns exactly `rows` lines of `columns` columns.
    func render(columns: Int, rows: Int) -> [String] {
        guard columns >= 6, rows >= 2 else { return Array(repeating: "".fitted(to: columns), count: max(0, rows)) }
        let top = "┌ \(title) ".fitted(to: columns - 1, with: "─") + "┐"
        let body = (0..<(rows - 2)).map { row in
            let text = " \((row < lines.count ? lines[row].withoutControlCharacters : "").fitted(to: columns - 4)) "
            return "│\(row == reversed ? "\u{1B}[7m\(text)\u{1B}[0m" : text)│"
        }
        return [top] + body + ["└" + String(repeating: "─", count: columns - 2) + "┘"]
    }

    /// Returns two panels of equal height side by side.
    static func beside(_ left: [String], _ right: [String]) -> [String] {
        zip(left, right).map { $0 + $1 }
    }
}
