package import BackgrounderAPI
import FoundationEssentials
import GRDB

/// The table of places.
extension StateStore {
    /// A place with a box that contains it.
    package typealias BoundedPlace = (definition: PlaceDefinition, bounds: GeographicBounds)

    /// The most places of all sources together.
    package static let mostPlaces = 250_000
    /// Tuned: the number from which the usual cache of 2 MB makes storing places several times slower.
    private static let manyPlaces = 5_000

    /// Stores places durably, in one transaction: those of a source that are known by their `sourceId`, or else by their name, keep
    /// their id.
    ///
    /// - Parameters:
    ///   - places: all of them are of `source`.
    ///   - replacing: whether to remove the other places of the source.
    /// - Returns: what changed, and the ids of the places that were removed or have another shape; nil if there would be more than
    ///   ``mostPlaces``, and nothing is changed then.
    package func store(
        _ places: [BoundedPlace],
        of source: String?,
        replacing: Bool
    ) async throws -> (counts: PlaceImport, reshaped: [Int])? {
        do {
            return try await write(durable: true) { database in
                var writer = PlaceWriter(database, source: source ?? "")
                let isLarge = places.count > Self.manyPlaces
                // Otherwise SQLite writes and reads the pages of the indexes again and again.
                if isLarge { try database.execute(sql: "PRAGMA cache_size = -65536") }
                defer { if isLarge { try? database.execute(sql: "PRAGMA cache_size = -2000; PRAGMA shrink_memory") } }
                for (place, bounds) in places { try writer.store(place, bounds) }
                try writer.indexAdded()
                if replacing { try writer.removeOthers() }
                guard try Int.fetchOne(database, sql: "SELECT count(*) FROM place") ?? 0 <= Self.mostPlaces else {
                    throw TooManyPlaces()
                }
                return (writer.counts, writer.reshaped)
            }
        } catch is TooManyPlaces {
            return nil
        }
    }

    /// Replaces what a place is durably; its source and its id there stay.
    ///
    /// - Returns: whether the place exists.
    /// - Throws: ``PlaceNameInUse``, or the error of the database.
    package func change(_ id: Int, to place: BoundedPlace) async throws -> Bool {
        try await write(durable: true) { database in
            return try PlaceWriter(database, source: "").replace(Int64(id), place.definition, place.bounds)
        }
    }

    /// Removes the places with these ids durably.
    ///
    /// - Returns: how many there were.
    package func removePlaces(_ ids: [Int]) async throws -> Int {
        try await write(durable: true) { database in
            var count = 0
            for id in ids {
                if try database.removePlace(Int64(id)) { count += 1 }
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

    /// Returns those of `names` that a place has.
    package func existing(places names: Set<String>) async throws -> Set<String> {
        try await read { database in
            try names.filter { name in
                try Bool.fetchOne(
                    database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM place WHERE name = ?)"),
                    arguments: [name]
                ) == true
            }
        }
    }

    /// Returns those of `tags` that a place has.
    package func existing(tags: Set<String>) async throws -> Set<String> {
        guard !tags.isEmpty else { return [] }
        return try await read { database in
            let all = try String.fetchSet(database, sql: "SELECT DISTINCT value FROM place, json_each(tags)")
            return all.intersection(tags)
        }
    }

    /// Returns the places whose boxes overlap one of `boxes`; none of these contains the antimeridian.
    ///
    /// - Returns: nil if there are more than `limit`.
    package func places(overlapping boxes: [GeographicBounds], atMost limit: Int) async throws -> [Place]? {
        try await read { database in
            let ids = Set(try database.placeBoxes(overlapping: boxes).map(\.id))
            guard ids.count <= limit else { return nil }
            return try ids.sorted().flatMap { try database.places("WHERE id = ?", [$0]) }
        }
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

    /// Returns the boxes of the tree that overlap one of `boxes`; none of these contains the antimeridian. A place may have two. Blocks
    /// the calling thread.
    package func placeBoxes(overlapping boxes: [GeographicBounds]) throws -> [(id: Int, bounds: GeographicBounds)] {
        try read { try $0.placeBoxes(overlapping: boxes) }
    }

    /// Returns the places with these ids, those that exist. Blocks the calling thread.
    package func places(_ ids: [Int]) throws -> [Place] {
        try read { database in
            try ids.flatMap { try database.places("WHERE id = ?", [$0]) }
        }
    }
}

private struct TooManyPlaces: Error {}

/// Another place of the source has the name.
package struct PlaceNameInUse: Error {}

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
    private(set) var counts = PlaceImport()
    /// The places that were removed or have another shape.
    private(set) var reshaped: [Int] = []
    private let database: Database
    private let source: String
    private let encoder: JSONEncoder
    private var kept: Set<Int64> = []
    /// The first of the new places that are not in the tree yet. Later ones have higher ids.
    private var firstAdded: Int64?

    init(_ database: Database, source: String) {
        (self.database, self.source) = (database, source)
        encoder = JSONEncoder()
        // Texts are compared.
        encoder.outputFormatting = .sortedKeys
    }

    mutating func store(_ place: PlaceDefinition, _ bounds: GeographicBounds) throws {
        let (values, shape) = try values(place, bounds)
        guard let (id, oldShape) = try known(place) else {
            try database.cachedStatement(
                sql: """
                    INSERT INTO place (\(Self.columns), source, sourceId) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: values + [source, place.sourceId])
            let id = database.lastInsertedRowID
            kept.insert(id)
            firstAdded = firstAdded ?? id
            counts.added += 1
            return
        }
        kept.insert(id)
        try update(id, values)
        guard database.changesCount > 0 else {
            counts.unchanged += 1
            return
        }
        counts.changed += 1
        guard shape != oldShape else { return }
        reshaped.append(Int(id))
        try reindex(id)
    }

    /// Adds the new places to the tree, at once because a statement for each takes several times longer. Call it after the last place.
    mutating func indexAdded() throws {
        guard let first = firstAdded else { return }
        try database.indexPlaces(from: first)
        firstAdded = nil
    }

    /// Replaces the place with this id; returns whether it exists.
    func replace(_ id: Int64, _ place: PlaceDefinition, _ bounds: GeographicBounds) throws -> Bool {
        let exists = try Bool.fetchOne(database, sql: "SELECT 1 FROM place WHERE id = ?", arguments: [id])
        guard exists == true else { return false }
        do {
            try update(id, try values(place, bounds).values)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            throw PlaceNameInUse()
        }
        try reindex(id)
        return true
    }

    private func values(_ place: PlaceDefinition, _ bounds: GeographicBounds) throws
        -> (values: StatementArguments, shape: String)
    {
        let box = PlaceBox(bounds)
        let shape = try text(place.shape)
        let tags = place.tags.isEmpty ? "[]" : try text(place.tags)
        let properties = place.properties.isEmpty ? "{}" : try text(place.properties)
        let values: StatementArguments = [
            place.name, tags, properties, shape, place.course, place.tolerance,
            box.minLatitude, box.maxLatitude, box.minLongitude, box.maxLongitude,
        ]
        return (values, shape)
    }

    private func update(_ id: Int64, _ values: StatementArguments) throws {
        try database.cachedStatement(
            sql: """
                UPDATE place SET (\(Self.columns)) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                WHERE id = ? AND (\(Self.columns)) IS NOT (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: values + [id] + values)
    }

    private func reindex(_ id: Int64) throws {
        if let firstAdded, id >= firstAdded { return }
        try database.removeBoxes(ofPlace: id)
        try database.indexPlaces(from: id, through: id)
    }

    /// Removes the places of the source that were not stored.
    mutating func removeOthers() throws {
        let ids = try Int64.fetchAll(database, sql: "SELECT id FROM place WHERE source = ?", arguments: [source])
        for id in ids where !kept.contains(id) {
            _ = try database.removePlace(id)
            reshaped.append(Int(id))
            counts.removed += 1
        }
    }

    private static let columns = """
        name, tags, properties, shape, course, tolerance, minLatitude, maxLatitude, minLongitude, maxLongitude
        """

    /// Returns the id and the shape of the stored place with the same id in the source, or else the same name.
    private func known(_ place: PlaceDefinition) throws -> (id: Int64, shape: String)? {
        let condition = place.sourceId == nil ? "name = ? AND sourceId IS NULL" : "sourceId = ?"
        return try Row.fetchOne(
            database.cachedStatement(sql: "SELECT id, shape FROM place WHERE source = ? AND \(condition)"),
            arguments: [source, place.sourceId ?? place.name]
        ).map { ($0[0], $0[1]) }
    }

    private func text(_ value: some Encodable) throws -> String {
        String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

extension Database {
    /// Adds the boxes of the places with these ids to the tree.
    func indexPlaces(from first: Int64 = 0, through last: Int64 = .max) throws {
        let condition = "id BETWEEN ?1 AND ?2"
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
        ).execute(arguments: [first, last])
    }

    fileprivate func placeBoxes(overlapping boxes: [GeographicBounds]) throws -> [(id: Int, bounds: GeographicBounds)] {
        try boxes.map(PlaceBox.init).flatMap { box in
            try Row.fetchAll(
                cachedStatement(
                    sql: """
                        SELECT id / 2, minLatitude, maxLatitude, minLongitude, maxLongitude FROM placeBox
                        WHERE minLatitude <= ? AND maxLatitude >= ? AND minLongitude <= ? AND maxLongitude >= ?
                        """
                ),
                arguments: [box.maxLatitude, box.minLatitude, box.maxLongitude, box.minLongitude]
            ).map { row in
                (
                    id: row[0],
                    bounds: GeographicBounds(
                        minLatitude: Double(row[1] as Int64) / 1e7,
                        minLongitude: Double(row[3] as Int64) / 1e7,
                        maxLatitude: Double(row[2] as Int64) / 1e7,
                        maxLongitude: Double(row[4] as Int64) / 1e7
                    )
                )
            }
        }
    }

    /// Removes a place with its boxes and the firings of rules at it; returns whether it existed.
    fileprivate func removePlace(_ id: Int64) throws -> Bool {
        try cachedStatement(sql: "DELETE FROM place WHERE id = ?").execute(arguments: [id])
        let exists = changesCount > 0
        try removeBoxes(ofPlace: id)
        try cachedStatement(sql: "DELETE FROM placeFiring WHERE placeId = ?").execute(arguments: [id])
        return exists
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
