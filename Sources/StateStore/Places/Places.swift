package import BackgrounderAPI
import FoundationEssentials
import GRDB

/// The table of places.
extension StateStore {
    /// The most places of all sources together.
    package static let mostPlaces = 250_000

    /// Stores places durably, in one transaction: those of a source that are known by their `sourceId`, or else by their name, keep
    /// their id.
    ///
    /// - Parameters:
    ///   - places: with a box that contains the place; all of them are of `source`.
    ///   - replacing: whether to remove the other places of the source.
    /// - Returns: nil if there would be more than ``mostPlaces``; nothing is changed then.
    package func store(
        _ places: [(definition: PlaceDefinition, bounds: GeographicBounds)],
        of source: String?,
        replacing: Bool
    ) async throws -> PlaceImport? {
        do {
            return try await write(durable: true) { database in
                var result = PlaceImport()
                var kept: Set<Int64> = []
                var writer = try PlaceWriter(database, source: source ?? "")
                for (place, bounds) in places {
                    let (id, change) = try writer.store(place, bounds)
                    kept.insert(id)
                    result[keyPath: change] += 1
                }
                if replacing { result.removed = try writer.removeAll(but: kept) }
                guard try Int.fetchOne(database, sql: "SELECT count(*) FROM place") ?? 0 <= Self.mostPlaces else {
                    throw TooManyPlaces()
                }
                return result
            }
        } catch is TooManyPlaces {
            return nil
        }
    }

    /// Removes the places with these ids durably.
    ///
    /// - Returns: how many there were.
    package func removePlaces(_ ids: [Int]) async throws -> Int {
        try await write(durable: true) { database in
            var count = 0
            for id in ids {
                try database.cachedStatement(sql: "DELETE FROM place WHERE id = ?").execute(arguments: [id])
                count += database.changesCount
                try database.removeBoxes(ofPlace: Int64(id))
            }
            return count
        }
    }

    /// Returns the place with this id; `nil` if there is none.
    package func place(_ id: Int) async throws -> Place? {
        try await read { try $0.places("WHERE id = ?", [id]).first }
    }

    /// Returns the places with this name, by id.
    package func places(named name: String) async throws -> [Place] {
        try await read { try $0.places("WHERE name = ? ORDER BY id", [name]) }
    }

    /// Returns a page of the places, by id: at most `count` of those with an id above `after`, with a tag and of a source if these are
    /// given.
    package func places(after: Int = 0, count: Int, tag: String? = nil, source: String? = nil) async throws -> [Place] {
        try await read { database in
            try database.places(
                """
                WHERE id > ?1 AND (?2 IS NULL OR source = ?2)
                    AND (?3 IS NULL OR EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?3))
                ORDER BY id LIMIT ?4
                """,
                [after, source, tag, count]
            )
        }
    }

    /// Returns the places whose boxes overlap one of `boxes`, by id. A box may not contain the antimeridian. Blocks the calling thread.
    package func places(overlapping boxes: [GeographicBounds]) throws -> [Place] {
        try read { database in
            var places: [Int: Place] = [:]
            for box in boxes.map(PlaceBox.init) {
                let found = try database.places(
                    """
                    WHERE id IN (
                        SELECT id / 2 FROM placeBox WHERE minLatitude <= ? AND maxLatitude >= ?
                            AND minLongitude <= ? AND maxLongitude >= ?
                    )
                    """,
                    [box.maxLatitude, box.minLatitude, box.maxLongitude, box.minLongitude]
                )
                for place in found { places[place.id] = place }
            }
            return places.values.sorted { $0.id < $1.id }
        }
    }
}

private struct TooManyPlaces: Error {}

/// A box in the units of the table: 10⁻⁷ degrees, rounded outwards.
private struct PlaceBox {
    var minLatitude, maxLatitude, minLongitude, maxLongitude: Int64

    init(_ bounds: GeographicBounds) {
        func units(_ degrees: Double, _ rule: FloatingPointRoundingRule, _ limit: Int64) -> Int64 {
            let units = (degrees * 1e7).rounded(rule)
            return units.isFinite ? min(max(Int64(units), -limit), limit) : 0
        }
        minLatitude = units(bounds.minLatitude, .down, 900_000_000)
        maxLatitude = units(bounds.maxLatitude, .up, 900_000_000)
        minLongitude = units(bounds.minLongitude, .down, 1_800_000_000)
        maxLongitude = units(bounds.maxLongitude, .up, 1_800_000_000)
    }
}

/// Stores the places of one source.
private struct PlaceWriter {
    private let database: Database
    private let source: String
    private let encoder: JSONEncoder

    init(_ database: Database, source: String) throws {
        (self.database, self.source) = (database, source)
        encoder = JSONEncoder()
        // Texts are compared.
        encoder.outputFormatting = .sortedKeys
    }

    /// Returns the id, and the number of the import that counts the place.
    mutating func store(_ place: PlaceDefinition, _ bounds: GeographicBounds) throws -> (
        Int64, WritableKeyPath<PlaceImport, Int>
    ) {
        let box = PlaceBox(bounds)
        let values: StatementArguments = [
            place.name, try text(place.tags), try text(place.properties), try text(place.shape), place.course,
            place.tolerance, box.minLatitude, box.maxLatitude, box.minLongitude, box.maxLongitude,
        ]
        let known =
            try place.sourceId.map { id in
                try Int64.fetchOne(
                    database.cachedStatement(sql: "SELECT id FROM place WHERE source = ? AND sourceId = ?"),
                    arguments: [source, id]
                )
            }
            ?? Int64.fetchOne(
                database.cachedStatement(
                    sql: "SELECT id FROM place WHERE source = ? AND name = ? AND sourceId IS NULL"
                ),
                arguments: [source, place.name]
            )
        guard let id = known else {
            try database.cachedStatement(
                sql: """
                    INSERT INTO place (name, tags, properties, shape, course, tolerance,
                        minLatitude, maxLatitude, minLongitude, maxLongitude, source, sourceId)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: values + [source, place.sourceId])
            let id = database.lastInsertedRowID
            try database.indexPlaces(id)
            return (id, \.added)
        }
        let columns = """
            name, tags, properties, shape, course, tolerance, minLatitude, maxLatitude, minLongitude, maxLongitude
            """
        try database.cachedStatement(
            sql: """
                UPDATE place SET (\(columns)) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                WHERE id = ? AND (\(columns)) IS NOT (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: values + [id] + values)
        guard database.changesCount > 0 else { return (id, \.unchanged) }
        try database.removeBoxes(ofPlace: id)
        try database.indexPlaces(id)
        return (id, \.changed)
    }

    /// Returns how many places were removed.
    func removeAll(but kept: Set<Int64>) throws -> Int {
        let ids = try Int64.fetchAll(database, sql: "SELECT id FROM place WHERE source = ?", arguments: [source])
        let delete = try database.cachedStatement(sql: "DELETE FROM place WHERE id = ?")
        let removed = ids.filter { !kept.contains($0) }
        for id in removed {
            try delete.execute(arguments: [id])
            try database.removeBoxes(ofPlace: id)
        }
        return removed.count
    }

    private func text(_ value: some Encodable) throws -> String {
        String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

extension Database {
    /// Adds the boxes of a place to the tree, or without `id` those of all places.
    func indexPlaces(_ id: Int64? = nil) throws {
        let condition = id == nil ? "true" : "id = ?"
        try cachedStatement(
            sql: """
                INSERT INTO placeBox
                SELECT 2 * id, minLatitude, maxLatitude, minLongitude,
                    iif(minLongitude > maxLongitude, 1800000000, maxLongitude)
                FROM place WHERE \(condition)
                UNION ALL
                SELECT 2 * id + 1, minLatitude, maxLatitude, -1800000000, maxLongitude
                FROM place WHERE \(condition) AND minLongitude > maxLongitude
                """
        ).execute(arguments: id.map { [$0, $0] } ?? [])
    }

    fileprivate func removeBoxes(ofPlace id: Int64) throws {
        try cachedStatement(sql: "DELETE FROM placeBox WHERE id IN (?, ?)").execute(arguments: [2 * id, 2 * id + 1])
    }

    fileprivate func places(_ condition: String, _ arguments: StatementArguments) throws -> [Place] {
        let decoder = JSONDecoder()
        let rows = try Row.fetchCursor(
            cachedStatement(
                sql: """
                    SELECT id, source, sourceId, name, tags, properties, shape, course, tolerance FROM place \(condition)
                    """
            ),
            arguments: arguments
        )
        var places: [Place] = []
        while let row = try rows.next() {
            let source: String = row[1]
            places.append(
                Place(
                    id: row[0],
                    definition: PlaceDefinition(
                        name: row[3],
                        source: source.isEmpty ? nil : source,
                        sourceId: row[2],
                        tags: try decoder.decode([String].self, from: Data((row[4] as String).utf8)),
                        properties: try decoder.decode([String: String].self, from: Data((row[5] as String).utf8)),
                        shape: try decoder.decode(PlaceShape.self, from: Data((row[6] as String).utf8)),
                        course: row[7],
                        tolerance: row[8]
                    )
                )
            )
        }
        return places
    }
}
