import FoundationEssentials
import GRDB

/// A row as stored in a page.
struct RawRow {
    /// The row id; `nil` in a table without row ids.
    var id: Int64?
    /// The values in the order of the record, which may have fewer columns than the table.
    var values: [DatabaseValue]
}

/// A page of a table's b-tree that has rows (section 1.6 of SQLite's file format). No content of a damaged page can
/// cause a read out of bounds.
struct TreePage {
    private enum Kind: UInt8 {
        case tableLeaf = 0x0D
        /// A leaf of a table without row ids, which is stored like an index.
        case indexLeaf = 0x0A
        case indexInterior = 0x02
    }

    /// The most bytes that are read for one row: far more than the largest rows, the contents of fetch sources, have.
    private static let largestRow: Int64 = 64 << 20

    /// The most columns of a row: SQLite's own limit.
    private static let columnLimit = 2000

    private let file: PageFile
    private let bytes: [UInt8]
    private let kind: Kind
    private let cells: [Int]

    /// Reads the page with this number; `nil` if it has no rows or is malformed.
    init?(_ number: Int, of file: PageFile) {
        let start = number == 1 ? 100 : 0
        guard let bytes = file.page(number), let kind = Kind(rawValue: bytes[start]),
            let count = bytes.bigEndian(2, at: start + 3)
        else { return nil }
        let pointers = start + (kind == .indexInterior ? 12 : 8)
        guard pointers + 2 * Int(count) <= bytes.count else { return nil }
        (self.file, self.bytes, self.kind) = (file, bytes, kind)
        let cells = (0..<Int(count)).compactMap { bytes.bigEndian(2, at: pointers + 2 * $0).map(Int.init) }
        // Two rows never share a cell.
        self.cells = Set(cells).sorted()
    }

    /// The ids of the rows.
    var ids: [Int64] { kind == .tableLeaf ? cells.compactMap(id) : [] }

    /// The readable rows, in no particular order.
    var rows: some Sequence<RawRow> { cells.lazy.compactMap(row) }

    private func id(at cell: Int) -> Int64? {
        var reader = ByteReader(bytes, at: cell)
        guard reader.varint() != nil, let id = reader.varint() else { return nil }
        return id
    }

    private func row(at cell: Int) -> RawRow? {
        var reader = ByteReader(bytes, at: cell)
        if kind == .indexInterior { reader.skip(4) }
        guard let size = reader.varint(), (0...Self.largestRow).contains(size) else { return nil }
        var id: Int64?
        if kind == .tableLeaf {
            guard let found = reader.varint() else { return nil }
            id = found
        }
        guard let payload = payload(Int(size), &reader), let values = Self.record(payload) else { return nil }
        return RawRow(id: id, values: values)
    }

    /// Reads the bytes of a record, including those in overflow pages. Section 1.6 of the format defines how many bytes
    /// are in the page itself.
    private func payload(_ size: Int, _ reader: inout ByteReader) -> [UInt8]? {
        let usable = PageFile.pageSize
        let most = kind == .tableLeaf ? usable - 35 : (usable - 12) * 64 / 255 - 23
        guard size > most else { return reader.read(size) }
        let least = (usable - 12) * 32 / 255 - 23
        let part = least + (size - least) % (usable - 4)
        guard var payload = reader.read(part <= most ? part : least), var next = reader.number(4) else { return nil }
        var seen: Set<Int64> = []
        while payload.count < size {
            guard seen.insert(next).inserted, let page = file.page(Int(next)), let following = page.bigEndian(4, at: 0)
            else { return nil }
            payload += page[4..<min(usable, 4 + size - payload.count)]
            next = Int64(following)
        }
        return payload
    }

    /// Decodes a record (section 2.1 of the format).
    private static func record(_ bytes: [UInt8]) -> [DatabaseValue]? {
        var head = ByteReader(bytes, at: 0)
        guard let size = head.varint(), size > 0, size <= bytes.count else { return nil }
        var body = ByteReader(bytes, at: Int(size))
        var values: [DatabaseValue] = []
        while head.position < Int(size) {
            guard values.count < columnLimit, let type = head.varint(), let value = body.value(type) else { return nil }
            values.append(value)
        }
        return values
    }
}

/// Reads bytes forwards, never beyond the end.
private struct ByteReader {
    private let bytes: [UInt8]
    private(set) var position: Int

    init(_ bytes: [UInt8], at position: Int) { (self.bytes, self.position) = (bytes, position) }

    mutating func skip(_ count: Int) { position += count }

    mutating func read(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= bytes.count - position else { return nil }
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    /// Reads a big-endian signed number of `width` bytes.
    mutating func number(_ width: Int) -> Int64? {
        guard let bytes = read(width) else { return nil }
        let sign: Int64 = bytes.first.map { $0 & 0x80 == 0 ? 0 : -1 } ?? 0
        return bytes.reduce(sign) { $0 << 8 | Int64($1) }
    }

    /// Reads a varint of at most nine bytes: seven bits of each of the first eight, and all eight of the ninth.
    mutating func varint() -> Int64? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard position < bytes.count else { return nil }
            let byte = bytes[position]
            position += 1
            if index == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte & 0x80 == 0 { break }
        }
        return Int64(bitPattern: value)
    }

    /// Reads a value of a serial type (section 2.1 of the format).
    mutating func value(_ type: Int64) -> DatabaseValue? {
        switch type {
        case 0: return .null
        case 1...4: return number(Int(type))?.databaseValue
        case 5: return number(6)?.databaseValue
        case 6: return number(8)?.databaseValue
        case 7: return number(8).map { Double(bitPattern: UInt64(bitPattern: $0)).databaseValue }
        case 8: return Int64(0).databaseValue
        case 9: return Int64(1).databaseValue
        case 12...:
            guard let bytes = read(Int(min((type - 12) / 2, .max / 4))) else { return nil }
            return type % 2 == 0
                ? Data(bytes).databaseValue : String(validating: bytes, as: UTF8.self)?.databaseValue
        default: return nil
        }
    }
}
