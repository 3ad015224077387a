/// Renders numbers as a row of small bars.
package enum Sparkline {
    private static let bars: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    /// Returns one bar per value, scaled from 0 (or the least value, if it is negative) to the greatest. Values that are not finite
    /// are blanks.
    package static func render(_ values: [Double]) -> String {
        let finite = values.filter(\.isFinite)
        guard let greatest = finite.max(), let least = finite.min() else {
            return String(repeating: " ", count: values.count)
        }
        let floor = min(0, least)
        let range = greatest - floor
        return String(
            values.map { value in
                guard value.isFinite else { return " " }
                guard range > 0 else { return bars[0] }
                return bars[min(bars.count - 1, Int((value - floor) / range * Double(bars.count)))]
            }
        )
    }

    /// Returns at most `columns` bars, averages of neighbouring values.
    package static func render(_ values: [Double], columns: Int) -> String {
        guard values.count > columns, columns > 0 else { return render(values) }
        return render(
            (0..<columns).map { column in
                let part = values[column * values.count / columns..<(column + 1) * values.count / columns]
                return part.reduce(0, +) / Double(part.count)
            }
        )
    }
}
