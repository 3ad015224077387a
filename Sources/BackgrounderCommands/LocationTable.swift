import BackgrounderAPI
import FoundationEssentials

/// Points as lines of fixed widths, so that they can be printed as they come.
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

    private static func line(_ cells: [String]) -> String {
        Table.line(cells, columns.map(\.1), columns.map(\.2))
    }
}

/// Reads the JSON of the history, which has a point a line, and prints a line for each.
struct HistoryTable {
    private var line: [UInt8] = []
    private var count = 0

    mutating func feed(_ bytes: some Sequence<UInt8>) throws {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                try finishLine()
            } else {
                line.append(byte)
            }
        }
    }

    private mutating func finishLine() throws {
        defer { line.removeAll(keepingCapacity: true) }
        if line.last == UInt8(ascii: ",") { line.removeLast() }
        if let location = try? JSON.decode(Location.self, from: Data(line)) {
            if count == 0 { try Output.print(LocationTable.heading) }
            try Output.print(LocationTable.line(location))
            count += 1
        } else if line == Array("]".utf8), count == 0 {
            try Output.print("No points in this time.")
        } else if line == Array("[]".utf8) {
            try Output.print("No points in this time.")
        }
    }
}
