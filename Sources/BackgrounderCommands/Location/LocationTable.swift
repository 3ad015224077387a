import BackgrounderAPI
import FoundationEssentials
import SystemSupport

/// A table of points with fixed column widths, so that each line can be printed as soon as its point arrives.
///
/// On a terminal it has the age of each point, and only as many columns as fit.
struct LocationTable {
    private enum Column: CaseIterable {
        case time, age, latitude, longitude, accuracy, speed, course, altitude, segment

        /// The columns that a narrow terminal does without, the least important one first.
        static let optional: [Self] = [.segment, .altitude, .course, .age, .speed, .accuracy]

        var heading: String {
            switch self {
            case .time: "TIME"
            case .age: "AGE"
            case .latitude: "LATITUDE"
            case .longitude: "LONGITUDE"
            case .accuracy: "± m"
            case .speed: "m/s"
            case .course: "COURSE"
            case .altitude: "ALT m"
            case .segment: ""
            }
        }
    }

    private let time: TimeStyle
    private let columns: [Column]
    private let limit: Int?

    /// - Parameter limit: the most terminal columns of a line; `nil` for any number.
    init(time: TimeStyle = .output, limit: Int? = StandardOutput.widthLimit) {
        self.time = time
        self.limit = limit
        var columns = Column.allCases
        if case .utc = time { columns.removeAll { $0 == .age } }
        func width() -> Int { columns.reduce(2 * (columns.count - 1)) { $0 + Self.width($1, time) } }
        if let limit {
            for column in Column.optional where width() > limit { columns.removeAll { $0 == column } }
        }
        self.columns = columns
    }

    var heading: String { line(columns.map(\.heading)) }

    func line(_ location: Location) -> String { line(columns.map { cell($0, location) }) }

    func render(_ locations: [Location]) -> String {
        locations.isEmpty ? "No points yet." : ([heading] + locations.map(line)).joined(separator: "\n")
    }

    /// The speeds as a row of bars; `nil` if fewer than two points have a speed.
    ///
    /// - Parameter limit: the most terminal columns of the line.
    static func speeds(of locations: [Location], limit: Int = StandardOutput.terminalSize.columns) -> String? {
        let speeds = locations.compactMap(\.speed)
        guard speeds.count > 1, let top = speeds.max() else { return nil }
        let words = "up to \(top.decimals(1)) m/s"
        let columns = min(60, limit - "speed    ".count - words.count)
        return "speed  \(Sparkline.render(speeds, columns: max(1, columns)))  \(words)"
    }

    private func cell(_ column: Column, _ location: Location) -> String {
        switch (column, time) {
        case (.time, .utc): ISO8601.string(location.timestamp)
        case (.time, .local): location.timestamp.localSeconds
        case (.age, .utc): ""
        case (.age, .local(let now)): TimeStyle.age(of: location.timestamp, at: now)
        case (.latitude, .utc): location.latitude.decimals(8)
        case (.longitude, .utc): location.longitude.decimals(8)
        case (.latitude, .local): location.latitude.decimals(6)
        case (.longitude, .local): location.longitude.decimals(6)
        case (.accuracy, _): location.horizontalAccuracy?.decimals(2) ?? ""
        case (.speed, _): location.speed?.decimals(2) ?? ""
        case (.course, _): location.course?.decimals(1) ?? ""
        case (.altitude, _): location.altitude?.decimals(1) ?? ""
        case (.segment, _): location.segmentStart == true ? "new segment" : ""
        }
    }

    private static func width(_ column: Column, _ time: TimeStyle) -> Int {
        switch (column, time) {
        case (.time, .utc): 24
        case (.time, .local): 19
        case (.age, _): 10
        case (.latitude, .utc): 12
        case (.longitude, .utc): 13
        case (.latitude, .local): 10
        case (.longitude, .local): 11
        case (.accuracy, .utc), (.altitude, _): 7
        case (.accuracy, .local), (.speed, _), (.course, _): 6
        case (.segment, _): 11
        }
    }

    private func line(_ cells: [String]) -> String {
        let alignments = columns.map { $0 == .time || $0 == .segment ? Table.Alignment.left : .right }
        let line = Table.line(cells, alignments, columns.map { Self.width($0, time) })
        return limit.map(line.cut) ?? line
    }
}
