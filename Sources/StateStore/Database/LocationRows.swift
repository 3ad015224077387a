import BackgrounderAPI
import FoundationEssentials
import GRDB

extension Database {
    func newestLocations(_ count: Int) throws -> [Location] {
        let recent = try newestRows(count, of: "recentLocation")
        let older = recent.count < count ? try newestRows(count - recent.count, of: "location") : []
        return (recent + older).reversed().map { Location(row: $0) }
    }

    private func newestRows(_ count: Int, of table: String) throws -> [Row] {
        try Row.fetchAll(self, sql: "SELECT * FROM \(table) WHERE id > 0 ORDER BY id DESC LIMIT ?", arguments: [count])
    }

    /// Returns the id of the newest point that was not imported; 0 if there is none.
    func newestID() throws -> Int64 {
        for table in ["recentLocation", "location"] {
            let sql = "SELECT id FROM \(table) WHERE id > 0 ORDER BY id DESC LIMIT 1"
            if let id = try Int64.fetchOne(cachedStatement(sql: sql)) { return id }
        }
        return 0
    }
}

extension Location {
    init(row: Row) {
        self.init(
            latitude: row["latitude"],
            longitude: row["longitude"],
            altitude: row["altitude"],
            horizontalAccuracy: row["horizontalAccuracy"],
            accuracySource: (row["accuracySource"] as String?).flatMap(AccuracySource.init),
            verticalAccuracy: row["verticalAccuracy"],
            speed: row["speed"],
            course: row["course"],
            timestamp: Date(milliseconds: row["time"]),
            mode: row["mode"],
            segmentStart: row["segmentStart"] ? true : nil
        )
    }
}
