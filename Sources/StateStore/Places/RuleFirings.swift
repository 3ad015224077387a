package import FoundationEssentials
import GRDB

/// The last time that a rule fired for a place.
package struct RuleFiring: Hashable, Sendable {
    package var rule: String
    package var placeId: Int
    package var time: Date
    /// By how many seconds local time was ahead of UTC.
    package var utcOffset: Int
    package var tripId: Int?
    /// Whether the visit in which it fired has ended.
    package var isVisitOver: Bool

    /// Creates a firing.
    package init(rule: String, placeId: Int, time: Date, utcOffset: Int, tripId: Int?, isVisitOver: Bool) {
        self.rule = rule
        self.placeId = placeId
        self.time = time
        self.utcOffset = utcOffset
        self.tripId = tripId
        self.isVisitOver = isVisitOver
    }
}

/// The table of firings.
extension StateStore {
    /// Returns the firings of all rules. Blocks the calling thread.
    package func ruleFirings() throws -> [RuleFiring] {
        try read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM placeFiring").map { row in
                RuleFiring(
                    rule: row["rule"],
                    placeId: row["placeId"],
                    time: Date(milliseconds: row["time"]),
                    utcOffset: row["utcOffset"],
                    tripId: row["tripId"],
                    isVisitOver: row["isVisitOver"]
                )
            }
        }
    }

    /// Returns the id of the trip in progress; `nil` without one. Blocks the calling thread.
    package func openTrip(now: Date = Date()) throws -> Int? {
        try write(durable: false) { database in
            try database.settleRecentPoints()
            return try database.openTrip(now: now)
        }
    }
}

extension Database {
    func save(_ firing: RuleFiring) throws {
        try cachedStatement(
            sql: """
                INSERT OR REPLACE INTO placeFiring (rule, placeId, time, utcOffset, tripId, isVisitOver)
                VALUES (?, ?, ?, ?, ?, ?)
                """
        ).execute(
            arguments: [
                firing.rule, firing.placeId, firing.time.milliseconds, firing.utcOffset, firing.tripId,
                firing.isVisitOver,
            ]
        )
    }
}
