import FoundationEssentials
import GRDB

/// Copies the readable rows of a damaged database into a new one. The damaged file is only read.
struct Salvage {
    /// The number of copied points.
    private(set) var points = 0
    /// The number of other copied rows.
    private(set) var others = 0
    /// Why the copy ended early; `nil` if it did not.
    private(set) var fault: String?

    /// Tables with damage.
    private var damaged: Set<String> = []

    /// All tables except those of the music, which the next scan of the music directory refills. Parents come before
    /// the tables that reference them.
    static let tables = [
        "location", "recentLocation", "trip", "queueItem", "state", "setting", "task", "taskHook", "fetchSource",
        "fetchContent", "fetchRun", "fetchOpen", "transferSession", "transfer", "transferEvent", "push", "pushID",
        "pushMessage", "pushStart", "sticker", "place", "placeEvent",
        "placeFiring", "publisher", "generation", "fleetCommand",
    ]
    // Tuned: a transaction of a megabyte or two.
    private static let portion = 10_000

    /// Copies the database at `path` into `new`. No other process may use the file.
    init(from path: String, into new: DatabaseQueue) {
        do {
            var configuration = Configuration()
            configuration.readonly = true
            let old = try DatabaseQueue(path: path, configuration: configuration)
            // Leaked for the reason given in StateStore.probe(_:).
            _ = Unmanaged.passRetained(old)
            defer { try? old.close() }
            for table in Self.tables { try copy(table, from: old, into: new) }
            let sequences = try? old.unsafeRead { try Row.fetchAll($0, sql: "SELECT name, seq FROM sqlite_sequence") }
            try Self.raise((sequences ?? []).map { Array($0.databaseValues) }, in: new)
        } catch {
            fault = (error as? DatabaseError)?.message ?? "\(error)"
        }
        do {
            try copyHidden(from: path, into: new)
        } catch {
            fault = fault ?? (error as? DatabaseError)?.message ?? "\(error)"
        }
        do {
            try new.write { try $0.indexPlaces() }
        } catch {
            fault = fault ?? (error as? DatabaseError)?.message ?? "\(error)"
        }
    }

    private mutating func insert(_ rows: [StatementArguments], _ columns: [String], _ writer: RowWriter) throws {
        let result = try writer.insert(rows, columns: columns)
        if ["location", "recentLocation"].contains(writer.table) {
            points += result.inserted
        } else {
            others += result.inserted
        }
        // The parents may be among the rows that SQLite cannot find.
        if result.lackParents { damaged.insert(writer.table) }
    }

    // MARK: Rows that SQLite cannot find

    /// Copies the rows that no intact page leads to: from the damaged tables, or from all tables if SQLite could not
    /// read the file.
    private mutating func copyHidden(from path: String, into new: DatabaseQueue) throws {
        guard fault != nil || !damaged.isEmpty, let file = ReadableFile(path),
            let scan = PageScan(PageFile(file, log: ReadableFile(path + "-wal")))
        else { return }
        for name in Self.tables where fault != nil || damaged.contains(name) {
            let writer = try RowWriter(name, in: new)
            // Grouped by columns: a row written before a column was added lacks that column.
            var waiting: [[String]: [StatementArguments]] = [:]
            try scan.forEachRow(of: name) { table, row in
                var columns = table.columns.prefix(row.values.count).filter(writer.columns.contains)
                var values = table.values(columns, of: row)
                if table.idColumn == nil, let id = row.id {
                    columns.append("rowid")
                    values.append(id.databaseValue)
                }
                waiting[columns, default: []].append(StatementArguments(values))
                guard let rows = waiting[columns], rows.count == Self.portion else { return }
                try insert(rows, columns, writer)
                waiting[columns] = nil
            }
            for (columns, rows) in waiting { try insert(rows, columns, writer) }
        }
        var sequences: [[DatabaseValue]] = []
        scan.forEachRow(of: "sqlite_sequence") { sequences.append($1.values) }
        try Self.raise(sequences, in: new)
    }

    /// The result in words: `salvaged 4955 points and 12 other rows`.
    var summary: String {
        let saved =
            points + others == 0
            ? "nothing could be salvaged" : "salvaged \(points) points and \(others) other rows"
        return saved + (fault.map { " (\($0))" } ?? "")
    }

    // MARK: Rows that SQLite finds

    private mutating func copy(_ table: String, from old: DatabaseQueue, into new: DatabaseQueue) throws {
        let writer = try RowWriter(table, in: new)
        // A file of an earlier version lacks some tables and columns.
        let found = (try? old.unsafeRead { try $0.columns(in: table).map(\.name) }) ?? []
        let columns = found.filter(writer.columns.contains)
        guard !columns.isEmpty else { return }
        if try Self.isWithoutRowID(table, new) {
            try copyFromBothEnds(table, columns, from: old, writer)
        } else {
            try copyByRowID(table, columns, from: old, writer)
        }
    }

    private mutating func copyByRowID(
        _ table: String,
        _ columns: [String],
        from old: DatabaseQueue,
        _ writer: RowWriter
    ) throws {
        let scan = RowScan(table, columns: "rowid, \(columns.joined(separator: ", "))")
        // A table without an id column keeps its row ids, so that no row is copied twice.
        let hasIDColumn = try old.unsafeRead { try $0.primaryKey(table).rowIDColumn } != nil
        let copied = hasIDColumn ? columns : ["rowid"] + columns
        var next: Int64? = .min
        while let id = next {
            var rows: [StatementArguments] = []
            let result = try old.unsafeRead { database in
                try scan.read(id ... .max, limit: Self.portion, from: database) { row in
                    rows.append(StatementArguments(row.values.dropFirst(hasIDColumn ? 1 : 0)))
                }
            }
            if result.damage != nil { damaged.insert(table) }
            next = result.next
            try insert(rows, copied, writer)
        }
    }

    /// Copies a table without row ids: forwards from its first row and backwards from its last row, each up to damage.
    private mutating func copyFromBothEnds(
        _ table: String,
        _ columns: [String],
        from old: DatabaseQueue,
        _ writer: RowWriter
    ) throws {
        let key = try old.unsafeRead { try $0.primaryKey(table).columns }
        for direction in ["ASC", "DESC"] {
            var rows: [StatementArguments] = []
            do {
                try old.unsafeRead { database in
                    let order = key.map { "\($0) \(direction)" }.joined(separator: ", ")
                    let names = columns.joined(separator: ", ")
                    let cursor = try Row.fetchCursor(database, sql: "SELECT \(names) FROM \(table) ORDER BY \(order)")
                    while let row = try cursor.next() { rows.append(StatementArguments(row.databaseValues)) }
                }
            } catch {
                damaged.insert(table)
            }
            try insert(rows, columns, writer)
        }
    }

    /// Raises the AUTOINCREMENT counters to these pairs of a table and a number, so that ids are never reused.
    private static func raise(_ sequences: [[DatabaseValue]], in new: DatabaseQueue) throws {
        try new.write { database in
            for pair in sequences where pair.count == 2 {
                guard let name = String.fromDatabaseValue(pair[0]), let number = Int64.fromDatabaseValue(pair[1]),
                    Self.tables.contains(name)
                else { continue }
                try database.execute(
                    sql: "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?",
                    arguments: [number, name]
                )
                if database.changesCount == 0 {
                    try database.execute(sql: "INSERT INTO sqlite_sequence VALUES (?, ?)", arguments: [name, number])
                }
            }
        }
    }

    private static func isWithoutRowID(_ table: String, _ database: DatabaseQueue) throws -> Bool {
        try database.read { database in
            try String.fetchOne(database, sql: "SELECT sql FROM sqlite_master WHERE name = ?", arguments: [table])?
                .hasSuffix("WITHOUT ROWID") == true
        }
    }
}

/// Inserts rows into a table of the new database. Skips rows that already exist and rows that violate a constraint.
private struct RowWriter {
    /// The names of the table's columns.
    let columns: Set<String>
    let table: String
    private let database: DatabaseQueue

    init(_ table: String, in database: DatabaseQueue) throws {
        (self.table, self.database) = (table, database)
        columns = Set(try database.read { try $0.columns(in: table).map(\.name) })
    }

    /// Inserts `rows`, which have a value for each of `columns`.
    ///
    /// - Returns: the number of inserted rows, and whether some were rejected because the row that they reference is
    ///   missing.
    func insert(_ rows: [StatementArguments], columns: [String]) throws -> (inserted: Int, lackParents: Bool) {
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        let sql = "INSERT OR IGNORE INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(places))"
        return try database.write { database in
            let statement = try database.cachedStatement(sql: sql)
            var result = (inserted: 0, lackParents: false)
            for row in rows {
                do {
                    try statement.execute(arguments: row)
                    result.inserted += database.changesCount
                } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                    // Any other violation is damage: values that are readable but impossible.
                    if error.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY { result.lackParents = true }
                }
            }
            return result
        }
    }
}
