import Foundation

@testable import StateStore

/// Reads the rows of a database page by page. Any page can be damaged.
enum PagesTarget {
    static func run(_ bytes: [UInt8]) {
        let path = "/dev/shm/fuzz-pages-\(ProcessInfo.processInfo.processIdentifier)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        do { try Data(bytes).write(to: URL(fileURLWithPath: path)) } catch { preconditionFailure("\(error)") }
        guard let file = ReadableFile(path), let scan = PageScan(PageFile(file, log: nil)) else { return }
        var count = 0
        scan.forEachRow(of: "location") { table, row in
            precondition(table.values(["id", "time", "latitude"], of: row).count == 3)
            count += 1
        }
        // The shortest cell has 2 bytes.
        precondition(count <= bytes.count / 2)
        let all = Int64.min...Int64.max
        if let found = scan.rows(of: "location", all, limit: 50) {
            precondition(found.rows.count <= 50)
            let ids = found.rows.compactMap(\.id)
            precondition(ids == ids.sorted() && Set(ids).count == ids.count)
        }
    }
}
