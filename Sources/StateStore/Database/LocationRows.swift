import BackgrounderAPI
import FoundationEssentials
import GRDB

extension Database {
    func newestLocations(_ count: Int) throws -> [Location] {
        try Row.fetchAll(self, sql: "SELECT * FROM location WHERE id > 0 ORDER BY id DESC LIMIT ?", arguments: [count])
            .reversed().map { Location(row: $0) }
    }

    /// Returns the id of the newest point that was not imported; 0 if there is none.
    func newestID() throws -> Int64 {
        try Int64.fetchOne(
            cachedStatement(sql: "SELECT id FROM location WHERE id > 0 ORDER BY id DESC LIMIT 1")
        ) ?? 0
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
