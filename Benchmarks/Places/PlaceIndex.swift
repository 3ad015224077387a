import BackgrounderAPI
import Foundation
import GRDBSQLite
import Places

/// Places in SQLite, with their boxes in an R*Tree of 1e-7 degrees, as the store keeps them.
final class PlaceIndex {
    private var database: OpaquePointer?
    private var search: OpaquePointer?
    private var load: OpaquePointer?

    /// Creates the database at `path`. The places get the ids 0, 1, ….
    init(path: String, places: some Sequence<PlaceDefinition>) throws {
        sqlite3_open(path, &database)
        execute("PRAGMA cache_size = -2000")
        execute("CREATE TABLE place (id INTEGER PRIMARY KEY, shape BLOB NOT NULL)")
        execute("CREATE VIRTUAL TABLE placeBox USING rtree_i32(id, west, east, south, north)")
        execute("BEGIN")
        let insert = prepare("INSERT INTO place VALUES (?, ?)")
        let insertBox = prepare("INSERT INTO placeBox VALUES (?, ?, ?, ?, ?)")
        for (id, place) in places.enumerated() {
            sqlite3_bind_int64(insert, 1, Int64(id))
            place.shape.packed.withUnsafeBytes { bytes in
                _ = sqlite3_bind_blob(
                    insert,
                    2,
                    bytes.baseAddress,
                    Int32(bytes.count),
                    unsafeBitCast(-1, to: sqlite3_destructor_type.self)
                )
            }
            sqlite3_step(insert)
            sqlite3_reset(insert)
            let bounds = try Shape(place.shape).bounds
            sqlite3_bind_int64(insertBox, 1, Int64(id))
            sqlite3_bind_int(insertBox, 2, Self.outward(bounds.minLongitude, .down))
            sqlite3_bind_int(insertBox, 3, Self.outward(bounds.maxLongitude, .up))
            sqlite3_bind_int(insertBox, 4, Self.outward(bounds.minLatitude, .down))
            sqlite3_bind_int(insertBox, 5, Self.outward(bounds.maxLatitude, .up))
            sqlite3_step(insertBox)
            sqlite3_reset(insertBox)
        }
        execute("COMMIT")
        sqlite3_finalize(insert)
        sqlite3_finalize(insertBox)
        search = prepare(
            "SELECT id, west, east, south, north FROM placeBox WHERE east >= ? AND west <= ? AND north >= ? AND south <= ?"
        )
        load = prepare("SELECT shape FROM place WHERE id = ?")
    }

    deinit {
        sqlite3_finalize(search)
        sqlite3_finalize(load)
        sqlite3_close(database)
    }

    /// Supplies what the monitor needs for a fix.
    func supply(_ monitor: inout PlaceMonitor, for fix: PlaceFix, watches: [PlaceWatch]) throws {
        while let need = monitor.need(for: fix) {
            switch need {
            case .search(let area): monitor.complete(area, found: find(area))
            case .places(let ids): monitor.load(try ids.map { try place($0, watches) }, for: ids)
            }
        }
    }

    private func find(_ area: PlaceSearch) -> [IndexedPlace] {
        var found: [IndexedPlace] = []
        for bounds in area.bounds {
            sqlite3_bind_int(search, 1, Self.outward(bounds.minLongitude, .down))
            sqlite3_bind_int(search, 2, Self.outward(bounds.maxLongitude, .up))
            sqlite3_bind_int(search, 3, Self.outward(bounds.minLatitude, .down))
            sqlite3_bind_int(search, 4, Self.outward(bounds.maxLatitude, .up))
            while sqlite3_step(search) == SQLITE_ROW {
                func degrees(_ column: Int32) -> Double { Double(sqlite3_column_int(search, column)) / 1e7 }
                let box = GeographicBounds(
                    minLatitude: degrees(3),
                    minLongitude: degrees(1),
                    maxLatitude: degrees(4),
                    maxLongitude: degrees(2)
                )
                found.append(IndexedPlace(id: sqlite3_column_int64(search, 0), bounds: box))
            }
            sqlite3_reset(search)
        }
        return found
    }

    private func place(_ id: Int64, _ watches: [PlaceWatch]) throws -> MonitoredPlace {
        sqlite3_bind_int64(load, 1, id)
        sqlite3_step(load)
        defer { sqlite3_reset(load) }
        let bytes = UnsafeRawBufferPointer(
            start: sqlite3_column_blob(load, 0),
            count: Int(sqlite3_column_bytes(load, 0))
        )
        return try MonitoredPlace(id: id, shape: PlaceShape(packed: bytes)!, watches: watches)
    }

    private func execute(_ sql: String) { sqlite3_exec(database, sql, nil, nil, nil) }

    private func prepare(_ sql: String) -> OpaquePointer? {
        var statement: OpaquePointer?
        sqlite3_prepare_v2(database, sql, -1, &statement, nil)
        return statement
    }

    private static func outward(_ degrees: Double, _ rule: FloatingPointRoundingRule) -> Int32 {
        Int32((degrees * 1e7).rounded(rule))
    }
}
