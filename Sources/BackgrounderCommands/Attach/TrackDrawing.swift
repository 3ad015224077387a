import BackgrounderAPI
import Glibc

/// The track as a small drawing in Braille characters, each of which is 2 × 4 dots; north is up.
struct TrackDrawing {
    private typealias Point = (x: Double, y: Double, isStart: Bool)
    private let points: [Point]

    /// A plane that touches the Earth at the first point is flat enough for a track of 100 points.
    init(_ track: [Location]) {
        guard let first = track.first else {
            points = []
            return
        }
        let shrink = cos(first.latitude * .pi / 180)
        points = track.map { location in
            let east = (location.longitude - first.longitude).remainder(dividingBy: 360)
            let north = (location.latitude - first.latitude) * Self.metresPerDegree
            return (east * shrink * Self.metresPerDegree, north, location.segmentStart == true)
        }
    }

    private static let metresPerDegree = 111_320.0

    /// At most `rows` lines of `columns` characters, the last of which is the scale; none where there is nothing to draw.
    func render(columns: Int, rows: Int) -> [String] {
        guard rows >= 2, columns >= 4, let first = points.first else { return [] }
        let (width, height) = (columns * 2, (rows - 1) * 4)
        var (west, east, south, north) = (first.x, first.x, first.y, first.y)
        for point in points {
            (west, east) = (min(west, point.x), max(east, point.x))
            (south, north) = (min(south, point.y), max(north, point.y))
        }
        let scale = max((east - west) / Double(width - 1), (north - south) / Double(height - 1), 0.1)
        let left = (Double(width - 1) - (east - west) / scale) / 2
        let top = (Double(height - 1) - (north - south) / scale) / 2
        var cells = Array(repeating: Array(repeating: UInt32(0), count: columns), count: rows - 1)
        func dot(_ eastward: Double, _ northward: Double) {
            let x = Int(((eastward - west) / scale + left).rounded())
            let y = Int(((north - northward) / scale + top).rounded())
            guard (0..<width).contains(x), (0..<height).contains(y) else { return }
            cells[y / 4][x / 2] |= Self.bits[y % 4][x % 2]
        }
        for (from, to) in zip(points, points.dropFirst()) {
            guard !to.isStart else {
                dot(from.x, from.y)
                continue
            }
            let steps = max(1, min(400, Int((max(abs(to.x - from.x), abs(to.y - from.y)) / scale).rounded(.up))))
            for step in 0...steps {
                let share = Double(step) / Double(steps)
                dot(from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share)
            }
        }
        let last = points[points.count - 1]
        dot(last.x, last.y)
        let lines = cells.map { row in
            row.map { $0 == 0 ? " " : String(Unicode.Scalar(0x2800 + $0) ?? " ") }.joined()
        }
        return lines + [
            "├\(String(repeating: "─", count: columns / 2 - 2))┤ \((Double(columns / 2) * 2 * scale).metres)"
        ]
    }

    /// Unicode's numbering of the dots, by row and column.
    private static let bits: [[UInt32]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]
}
