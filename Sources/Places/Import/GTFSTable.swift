import SystemSupport

/// A table of a GTFS feed, read record by record. One thread at a time.
struct GTFSTable: ~Copyable {
    private var reader: CSVReader
    private let columns: [String: Int]

    /// Reads the header of a table from `source`; `required` are the columns that it must have.
    init(_ source: any ByteSource, required: [String]) throws(ImportFault) {
        let reader = try CSVReader(source)
        columns = try Self.indices(reader.columns, required: required)
        self.reader = reader
    }

    private static func indices(_ names: [String], required: [String]) throws(ImportFault) -> [String: Int] {
        var columns: [String: Int] = [:]
        for (index, column) in names.enumerated() where !column.isEmpty {
            guard columns.updateValue(index, forKey: column) == nil else {
                throw ImportFault(.unsuitable("the column \(quoted(column)) appears twice; rename one"), line: 1)
            }
        }
        for column in required where columns[column] == nil {
            throw ImportFault(.missing("the column \(quoted(column))", remedy: "export the feed again"), line: 1)
        }
        return columns
    }

    /// The 1-based line of the current record.
    var line: Int { reader.line }

    /// The names of the columns in their order.
    var names: [String] { reader.columns }

    /// Advances to the next record; returns `false` at the end.
    mutating func next() throws(ImportFault) -> Bool { try reader.next() }

    /// Returns the index of a column; `nil` if the table does not have it.
    func column(_ name: String) -> Int? { columns[name] }

    /// Returns the text in a column; `nil` if it is empty or the table does not have the column.
    func text(_ column: Int?) throws(ImportFault) -> String? {
        guard let column, !reader.bytes(column).isEmpty else { return nil }
        return try reader.text(column)
    }

    /// Returns the text in a column that must not be empty; `name` is for the fault.
    func required(_ column: Int?, _ name: String) throws(ImportFault) -> String {
        guard let text = try text(column) else {
            throw ImportFault(.missing("the \(name)", remedy: "export the feed again"), line: line)
        }
        return text
    }

    /// The bytes in a column; empty if the table does not have the column.
    func bytes(_ column: Int?) -> UnsafeBufferPointer<UInt8> {
        column.map { reader.bytes($0) } ?? UnsafeBufferPointer(start: nil, count: 0)
    }

    /// Returns whether a column has the text `value`, without making a string of it.
    func matches(_ column: Int, _ value: [UInt8]) -> Bool { reader.bytes(column).elementsEqual(value) }

    /// Returns the whole number in a column that must have one.
    func integer(_ column: Int?, _ name: String) throws(ImportFault) -> Int {
        let text = try required(column, name)
        guard let number = Int(text), number >= 0 else { throw invalid(name, text, "a whole number from 0 on") }
        return number
    }

    /// Returns the number in a column; `nil` if it is empty.
    func number(_ column: Int?, _ name: String) throws(ImportFault) -> Double? {
        guard let text = try text(column) else { return nil }
        guard let number = DecimalNumber.parse(bytes(column)), number >= 0 else {
            throw invalid(name, text, "a number from 0 on")
        }
        return number
    }

    /// Returns the seconds of a time `H:MM:SS` or `HH:MM:SS`, which may be after midnight: `25:10:00`; `nil` if it is empty.
    func time(_ column: Int?, _ name: String) throws(ImportFault) -> Int? {
        guard let text = try text(column) else { return nil }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, (1...3).contains(parts[0].count), parts[1].count == 2, parts[2].count == 2,
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let hours = Int(parts[0]), let minutes = Int(parts[1]), let seconds = Int(parts[2]), minutes < 60,
            seconds < 60
        else { throw invalid(name, text, "a time such as 25:10:00") }
        return hours * 3600 + minutes * 60 + seconds
    }

    /// Returns a fault of the current record.
    func invalid(_ name: String, _ value: String, _ expected: String) -> ImportFault {
        ImportFault(.invalid("the \(name)", value: value, expected: expected), line: line)
    }
}
