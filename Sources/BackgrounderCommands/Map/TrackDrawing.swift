import BackgrounderAPI
import Glibc

/// A small drawing of a track in Braille characters of 2 × 4 dots; north is up.
struct TrackDrawing {
    private let path: TrackPath

    init(_ path: TrackPath) {
        self.path = path
    }

    init(_ track: [Location]) {
        var path = TrackPath()
        for location in track { path.append(location) }
        self.init(path)
    }

    /// Returns at most `rows` lines of `columns` characters, the last one with the scale; none if there is nothing to
    /// draw.
    func render(columns: Int, rows: Int) -> [String] {
        let points = path.vertices
        guard rows >= 2, columns >= 4, let last = points.last, let bounds = path.bounds else { return [] }
        let (width, height) = (columns * 2, (rows - 1) * 4)
        let (west, east, south, north) = bounds
        let ground = TrackPath.groundScale(at: (south + north) / 2)
        let scale = max((east - west) / Double(width - 1), (north - south) / Double(height - 1), 0.1 / ground)
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
        dot(last.x, last.y)
        let lines = cells.map { row in
            row.map { $0 == 0 ? " " : String(Unicode.Scalar(0x2800 + $0) ?? " ") }.joined()
        }
        return lines + [
            "├\(String(repeating: "─", count: columns / 2 - 2))┤ \((Double(columns / 2) * 2 * scale * ground).metres)"
        ]
    }

    /// The bit of each dot in Unicode's Braille patterns, by row and column.
    private static let bits: [[UInt32]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]
}
