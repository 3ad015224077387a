import FoundationEssentials
import GRDB

/// Copies what can be read of a damaged database into a new one. The damaged file is only read.
struct Salvage {
    /// What was copied.
    private(set) var points = 0
    private(set) var others = 0
    /// Why it ended early, where it did.
    private(set) var fault: String?

    /// Every table but those of the music, which its next look through the folders fills. Parents come before what refers to them.
    private static let tables = [
        "location", "trip", "queueItem", "state", "setting", "task", "taskHook", "fetchSource", "fetchContent",
        "fetchRun",
        "fetchOpen", "transferSession", "transfer", "transferEvent", "push", "pushID", "pushMessage", "pushStart",
    ]
    // Tuned: a transaction of a megabyte or two.
    private static let portion = 10_000

    /// Copies from the file at `path`, which nobody else uses.
    init(from path: String, into new: DatabaseQueue) {
        do {
            var configuration = Configuration()
            configuration.readonly = true
            let old = try DatabaseQueue(path: path, configuration: configuration)
            // For the reason that StateStore.probe has.
            _ = Unmanaged.passRetained(old)
            defer { try? old.close() }
            for table in Self.tables {
                let count = try Self.copy(table, from: old, into: new)
                if table == "location" { points = count } else { others += count }
            }
            try Self.copySequences(from: old, into: new)
        } catch {
            fault = (error as? DatabaseError)?.message ?? "\(error)"
        }
    }

    /// `4955 points and 12 other rows were saved from it`
    var summary: String {
        let saved =
            points + others == 0
            ? "nothing could be saved from it" : "\(points) points and \(others) other rows were saved from it"
        return saved + (fault.map { " (\($0))" } ?? "")
    }

    /// - Returns: how many rows were copied.
    private static func copy(_ table: String, from old: DatabaseQueue, into new: DatabaseQueue) throws -> Int {
        let known = Set(try new.read { try columns(of: table, $0) })
        // A file of an earlier version lacks tables and columns.
        let found = (try? old.unsafeRead { try columns(of: table, $0) }) ?? []
        let shared = found.filter(known.contains)
        guard !shared.isEmpty else { return 0 }
        let names = shared.joined(separator: ", ")
        let hasRowID = try !isWithoutRowID(table, new)
        let insertion =
            "INSERT OR IGNORE INTO \(table) (\(names)) VALUES (\(shared.map { _ in "?" }.joined(separator: ", ")))"
        func insert(_ rows: [StatementArguments]) throws -> Int {
            try new.write { database in
                let statement = try database.cachedStatement(sql: insertion)
                return try rows.reduce(0) { count, row in
                    do {
                        try statement.execute(arguments: row)
                        return count + database.changesCount
                    } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                        // Damage that left readable but impossible values.
                        return count
                    }
                }
            }
        }
        return hasRowID
            ? try copyByRowID(RowScan(table, columns: "rowid, \(names)"), from: old, insert)
            : try copyFromBothEnds(table, names, from: old, insert)
    }

    private static func copyByRowID(
        _ scan: RowScan,
        from old: DatabaseQueue,
        _ insert: ([StatementArguments]) throws -> Int
    ) throws -> Int {
        var count = 0
        var next: Int64? = .min
        while let id = next {
            var rows: [StatementArguments] = []
            next = try old.unsafeRead { database in
                try scan.read(id ... .max, limit: portion, from: database) { row in
                    rows.append(StatementArguments(row.databaseValues.dropFirst()))
                }.next
            }
            count += try insert(rows)
        }
        return count
    }

    /// Reads a table without row ids forwards and backwards, up to damage: what lies between two damaged pages is lost.
    private static func copyFromBothEnds(
        _ table: String,
        _ names: String,
        from old: DatabaseQueue,
        _ insert: ([StatementArguments]) throws -> Int
    ) throws -> Int {
        let key = try old.unsafeRead { try $0.primaryKey(table).columns }
        return try ["ASC", "DESC"].reduce(0) { count, direction in
            var rows: [StatementArguments] = []
            try? old.unsafeRead { database in
                let order = key.map { "\($0) \(direction)" }.joined(separator: ", ")
                let cursor = try Row.fetchCursor(database, sql: "SELECT \(names) FROM \(table) ORDER BY \(order)")
                while let row = try cursor.next() { rows.append(StatementArguments(row.databaseValues)) }
            }
            return count + (try insert(rows))
        }
    }

    /// Ids that were given are never given again.
    private static func copySequences(from old: DatabaseQueue, into new: DatabaseQueue) throws {
        let sequences =
            (try? old.unsafeRead { try Row.fetchAll($0, sql: "SELECT name, seq FROM sqlite_sequence") }) ?? []
        let pairs = sequences.compactMap { row -> (String, Int64)? in
            guard let name = String.fromDatabaseValue(row[0]), let number = Int64.fromDatabaseValue(row[1]) else {
                return nil
            }
            return (name, number)
        }
        try new.write { database in
            for (name, number) in pairs where Self.tables.contains(name) {
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

    private static func columns(of table: String, _ database: Database) throws -> [String] {
        try database.columns(in: table).map(\.name)
    }

    private static func isWithoutRowID(_ table: String, _ database: DatabaseQueue) throws -> Bool {
        try database.read { database in
            try String.fetchOne(database, sql: "SELECT sql FROM sqlite_master WHERE name = ?", arguments: [table])?
                .hasSuffix("WITHOUT ROWID") == true
        }
    }
}
