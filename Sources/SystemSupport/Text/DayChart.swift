package import FoundationEssentials

/// A chart of a day in characters: rows of bars and marks above an axis of hours.
///
///     looks     ▁▁▁▁▁▁▁▁▂█▃▁▁▁▁▁▁▁▁▁▁
///     fetches          ▎▎▎
///               0     3     6     9
package struct DayChart: Sendable {
    /// The beginning of the chart, and the offset of local time from UTC at that time, in seconds.
    private let start: Date
    private let secondsFromGMT: Int
    private let columns: Int
    private let seconds: Double
    private var rows: [(name: String, text: String)] = []

    /// Creates the chart of a day from `start` on.
    ///
    /// - Parameter width: columns; a column is a quarter of an hour, half an hour or an hour, as there is room.
    package init(from start: Date, secondsFromGMT: Int, width: Int) {
        columns = [96, 48].first { width > $0 + Self.margin } ?? 24
        seconds = 86_400 / Double(columns)
        // Columns begin at quarters of an hour.
        self.start = Date(timeIntervalSince1970: (start.timeIntervalSince1970 / seconds).rounded(.down) * seconds)
        self.secondsFromGMT = secondsFromGMT
    }

    /// Adds a row of bars: averages of `values`, which cover the chart evenly.
    package mutating func add(_ name: String, values: [Double]) {
        rows.append((name, Sparkline.render(values, columns: columns)))
    }

    /// Adds a row with a mark at each of `times`; several in one column share a mark. Times outside of the day are ignored.
    package mutating func add(_ name: String, marks times: [Date]) {
        var text = [Character](repeating: " ", count: columns)
        for time in times {
            let place = (time.timeIntervalSince(start) / seconds).rounded(.down)
            guard place >= 0, place < Double(columns) else { continue }
            text[Int(place)] = "▎"
        }
        rows.append((name, String(text)))
    }

    /// Returns the rows and the axis, one line each.
    package func render() -> String {
        let lines = (rows + [("", axis)]).map { name, text in
            let name = String(name.prefix(Self.margin - 2))
            return name + String(repeating: " ", count: Self.margin - name.count) + text
        }
        return lines.map { line in String(line.reversed().drop { $0 == " " }.reversed()) }.joined(separator: "\n")
    }

    /// The axis, with every third hour.
    private var axis: String {
        var text = [Character](repeating: " ", count: columns + 2)
        for column in 0..<columns {
            let local = start.timeIntervalSince1970 + Double(secondsFromGMT) + Double(column) * seconds
            let minutes = (local / 60).rounded(.down).truncatingRemainder(dividingBy: 1440)
            guard let minutes = Int(exactly: minutes < 0 ? minutes + 1440 : minutes), minutes % 180 == 0 else {
                continue
            }
            for (offset, digit) in String(minutes / 60).enumerated() { text[column + offset] = digit }
        }
        return String(text)
    }

    /// The width of the names in columns.
    private static let margin = 10
}
