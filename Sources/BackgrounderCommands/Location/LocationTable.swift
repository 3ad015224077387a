import BackgrounderAPI
import SystemSupport

/// A table of points with fixed column widths, so that each line can be printed as soon as its point arrives.
enum LocationTable {
    private static let columns: [(String, Table.Alignment, Int)] = [
        ("TIME", .left, 24), ("LATITUDE", .right, 12), ("LONGITUDE", .right, 13), ("± m", .right, 7),
        ("m/s", .right, 6),
        ("COURSE", .right, 6), ("ALT m", .right, 7), ("", .left, 11),
    ]

    static var heading: String { line(columns.map(\.0)) }

    static func line(_ location: Location) -> String {
        line([
            ISO8601.string(location.timestamp), location.latitude.decimals(8), location.longitude.decimals(8),
            location.horizontalAccuracy?.decimals(2) ?? "", location.speed?.decimals(2) ?? "",
            location.course?.decimals(1) ?? "", location.altitude?.decimals(1) ?? "",
            location.segmentStart == true ? "new segment" : "",
        ])
    }

    static func render(_ locations: [Location]) -> String {
        locations.isEmpty ? "No points yet." : ([heading] + locations.map(line)).joined(separator: "\n")
    }

    /// The speeds as a row of bars; `nil` if fewer than two points have a speed.
    static func speeds(of locations: [Location]) -> String? {
        let speeds = locations.compactMap(\.speed)
        guard speeds.count > 1, let top = speeds.max() else { return nil }
        return "speed  \(Sparkline.render(speeds, columns: 60))  up to \(top.decimals(1)) m/s"
    }

    private static func line(_ cells: [String]) -> String {
        Table.line(cells, columns.map(\.1), columns.map(\.2))
    }
}
