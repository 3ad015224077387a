import GRDB
import SystemSupport

/// Finds the rows of tables in the pages of a file, including pages to which no intact page leads.
///
/// The pointer map, which files with `auto_vacuum` have, names the parent of each page, and so the table that the page
/// belongs to (section 1.8 of SQLite's file format).
struct PageScan {
    /// A table and the layout of its records.
    struct Table {
        let name: String
        /// The names of the columns in the order of a record.
        fileprivate(set) var columns: [String]
        /// The index of the column that is an alias of the row id, for which a record has NULL.
        fileprivate(set) var idColumn: Int?
    }

    private let file: PageFile
    /// The tables, by the numbers of their root pages.
    private let tables: [Int: Table]

    /// Reads the schema of `file`; `nil` without a pointer map or a readable description of a table.
    init?(_ file: PageFile) {
        self.file = file
        var statements: [Int: (name: String, sql: String)] = [:]
        for number in 1...max(1, file.count) where Self.root(of: number, in: file) == 1 {
            guard let page = TreePage(number, of: file) else { continue }
            for row in page.rows where row.values.count == 5 {
                guard String.fromDatabaseValue(row.values[0]) == "table",
                    let name = String.fromDatabaseValue(row.values[1]), let root = Int.fromDatabaseValue(row.values[3]),
                    let sql = String.fromDatabaseValue(row.values[4])
                else { continue }
                statements[root] = (name, sql)
            }
        }
        tables = statements.compactMapValues { Self.describe($0.name, $0.sql) }
        guard !tables.isEmpty else { return nil }
    }

    /// Calls `body` with each readable row of a table, in no particular order. Reads every page of the file.
    func forEachRow(of name: String, _ body: (Table, RawRow) throws -> Void) rethrows {
        for number in 1...max(1, file.count) {
            guard let table = table(of: number), table.name == name, let page = TreePage(number, of: file) else {
                continue
            }
            for row in page.rows { try body(table, row) }
        }
    }

    /// Returns the readable ones of the first `limit` rows with these ids, in the order of ids. Reads every page of the
    /// file.
    ///
    /// - Returns: the rows, and the id of the last row that was examined if there are more; `nil` if the table is
    ///   unknown.
    func rows(of name: String, _ ids: ClosedRange<Int64>, limit: Int) -> (table: Table, rows: [RawRow], last: Int64?)? {
        guard let table = tables.values.first(where: { $0.name == name }) else { return nil }
        var places: [(id: Int64, page: Int)] = []
        var isCut = false
        func cut() {
            places.sort { $0.id < $1.id }
            isCut = isCut || places.count > limit
            places.removeLast(max(0, places.count - limit))
        }
        for number in 1...max(1, file.count) where self.table(of: number)?.name == name {
            guard let page = TreePage(number, of: file) else { continue }
            places += page.ids.filter(ids.contains).map { ($0, number) }
            if places.count > 8 * limit { cut() }
        }
        cut()
        let wanted = Set(places.map(\.id))
        var rows: [Int64: RawRow] = [:]
        for number in Set(places.map(\.page)) {
            guard let page = TreePage(number, of: file) else { continue }
            for row in page.rows { if let id = row.id, wanted.contains(id) { rows[id] = row } }
        }
        let sorted = rows.sorted { $0.key < $1.key }.map(\.value)
        return (table, sorted, isCut ? places.last?.id : nil)
    }

    private func table(of page: Int) -> Table? { Self.root(of: page, in: file).flatMap { tables[$0] } }

    /// Returns the root page of the tree that `page` belongs to; `nil` if it belongs to none.
    private static func root(of page: Int, in file: PageFile) -> Int? {
        if page == 1 { return 1 }
        var page = page
        // A tree with more levels would need more pages than a file can have.
        for _ in 0..<24 {
            guard let entry = pointer(of: page, in: file) else { return nil }
            switch entry.type {
            case 1: return page
            case 5 where entry.above == 1: return 1
            case 5: page = entry.above
            default: return nil
            }
        }
        return nil
    }

    /// Returns the entry of the pointer map for `page`.
    private static func pointer(of page: Int, in file: PageFile) -> (type: UInt8, above: Int)? {
        let entries = PageFile.pageSize / 5
        guard page > 2 else { return nil }
        var map = (page - 2) / (entries + 1) * (entries + 1) + 2
        // The lock-byte page is never used (section 1.4 of the format).
        if map == 0x4000_0000 / PageFile.pageSize + 1 { map += 1 }
        guard map < page, let bytes = file.mapPage(map) else { return nil }
        let offset = (page - map - 1) * 5
        guard offset + 5 <= bytes.count, let above = bytes.bigEndian(4, at: offset + 1) else { return nil }
        return (bytes[offset], Int(above))
    }

    /// An empty database in memory. Leaked for the reason given in `StateStore.probe(_:)`.
    private static let interpreter = try? DatabaseQueue()

    /// Lets SQLite parse the statement that created a table.
    private static func describe(_ name: String, _ sql: String) -> Table? {
        guard name != "sqlite_sequence" else { return Table(name: name, columns: ["name", "seq"]) }
        guard Salvage.tables.contains(name), let start = sql.firstRange(of: "(")?.lowerBound, let queue = interpreter,
            ["CREATE TABLE \(name)", "CREATE TABLE \"\(name)\""].contains(
                sql[..<start].filter { !$0.isNewline }.trimmed
            )
        else { return nil }
        return try? queue.writeWithoutTransaction { database in
            try database.beginTransaction()
            defer { try? database.rollback() }
            // Throws if there is more than one statement.
            try database.makeStatement(sql: sql).execute()
            let columns = try Row.fetchAll(
                database,
                sql: "SELECT name, pk, type FROM pragma_table_info(?)",
                arguments: [name]
            )
            let position = { (column: Row) -> Int in column["pk"] }
            let key = columns.filter { position($0) > 0 }.sorted { position($0) < position($1) }
            guard sql.contains("WITHOUT ROWID") else {
                let isAlias = key.count == 1 && (key[0]["type"] as String).uppercased() == "INTEGER"
                let names = columns.map { $0["name"] as String }
                return Table(name: name, columns: names, idColumn: isAlias ? names.firstIndex(of: key[0]["name"]) : nil)
            }
            return Table(name: name, columns: (key + columns.filter { position($0) == 0 }).map { $0["name"] })
        }
    }
}

extension PageScan.Table {
    /// Returns the values of these columns, with NULL for columns that the row does not have.
    func values(_ names: [String], of row: RawRow) -> [DatabaseValue] {
        names.map { name in
            guard let index = columns.firstIndex(of: name) else { return .null }
            if index == idColumn, let id = row.id { return id.databaseValue }
            return index < row.values.count ? row.values[index] : .null
        }
    }
}
