import Glibc
import SystemSupport

/// Reads the records of CSV (RFC 4180) from a file of any size, in constant memory.
///
/// The first record names the columns. Quotation marks inside an unquoted field are part of it. Empty lines are skipped.
struct CSVReader: ~Copyable {
    /// The names of the columns, as they are written.
    private(set) var columns: [String] = []
    /// The 1-based line on which the current record begins.
    private(set) var line = 0

    private struct Field {
        var start: Int
        var end: Int
        /// Whether it contains doubled quotation marks.
        var isEscaped: Bool
    }

    private enum Scan { case record, unfinished, nothing }

    private let source: any ByteSource
    private let buffer: UnsafeMutablePointer<UInt8>
    /// The unread bytes of the buffer.
    private var position = 0
    private var end = 0
    private var isAtEnd = false
    private var fields: [Field] = []
    private var nextLine = 1

    private static let capacity = ImportLimits.record + ImportLimits.block

    /// Reads the header of `source`, whose byte order mark is skipped.
    init(_ source: any ByteSource) throws(ImportFault) {
        self.source = source
        buffer = .allocate(capacity: Self.capacity)
        try refill()
        if end >= 3, buffer[0] == 0xEF, buffer[1] == 0xBB, buffer[2] == 0xBF { position = 3 }
        guard try readRecord() else { throw ImportFault(.empty) }
        guard fields.count <= ImportLimits.columns else {
            throw ImportFault(.tooMany("columns", limit: ImportLimits.columns, remedy: "remove some"), line: line)
        }
        for index in fields.indices { columns.append(try text(index)) }
    }

    deinit { buffer.deallocate() }

    /// Advances to the next record; returns `false` at the end.
    mutating func next() throws(ImportFault) -> Bool {
        guard try readRecord() else { return false }
        guard fields.count == columns.count else {
            throw ImportFault(
                .damaged(
                    format: "CSV",
                    "\(counted(fields.count, "field")), but the header has \(columns.count); quote fields with commas"
                ),
                line: line
            )
        }
        return true
    }

    /// Returns the text of a field of the current record, without surrounding spaces.
    func text(_ index: Int) throws(ImportFault) -> String {
        let bytes = bytes(index)
        guard let text = String(validating: bytes, as: UTF8.self) else { throw ImportFault(.notUTF8, line: line) }
        return fields[index].isEscaped ? text.replacing("\"\"", with: "\"") : text
    }

    /// The bytes of a field, without surrounding spaces; doubled quotation marks are still doubled. Valid until the next record.
    func bytes(_ index: Int) -> UnsafeBufferPointer<UInt8> {
        var (start, end) = (fields[index].start, fields[index].end)
        while start < end, buffer[start] == 0x20 || buffer[start] == 0x09 { start += 1 }
        while end > start, buffer[end - 1] == 0x20 || buffer[end - 1] == 0x09 { end -= 1 }
        return UnsafeBufferPointer(start: buffer + start, count: end - start)
    }

    // MARK: - Scanning

    private mutating func readRecord() throws(ImportFault) -> Bool {
        while true {
            line = nextLine
            switch try scan() {
            case .nothing: return false
            case .unfinished: try refill()
            case .record:
                guard !isBlank else { continue }
                return true
            }
        }
    }

    /// Whether the record is an empty line. Some old programs end a file with the byte 1A.
    private var isBlank: Bool {
        guard fields.count == 1 else { return false }
        return bytes(0).allSatisfy { $0 <= 0x20 }
    }

    /// Moves the unread bytes to the beginning of the buffer and reads more.
    private mutating func refill() throws(ImportFault) {
        if position > 0 {
            memmove(buffer, buffer + position, end - position)
            end -= position
            position = 0
        }
        guard end <= ImportLimits.record else {
            throw ImportFault(.tooLong("a line", limit: ImportLimits.record), line: line)
        }
        let free = UnsafeMutableRawBufferPointer(
            start: buffer + end,
            count: min(ImportLimits.block, Self.capacity - end)
        )
        let count = try source.read(into: free)
        end += count
        isAtEnd = count == 0
    }

    /// Finds the fields of the record at `position`, and moves after it if the buffer holds all of it.
    private mutating func scan() throws(ImportFault) -> Scan {
        guard position < end else { return isAtEnd ? .nothing : .unfinished }
        fields.removeAll(keepingCapacity: true)
        var index = position
        var lines = 1
        while true {
            if index < end, buffer[index] == UInt8(ascii: "\"") {
                guard let after = try scanQuoted(from: index, &lines) else { return .unfinished }
                index = after
            } else {
                let start = index
                while index < end, buffer[index] != UInt8(ascii: ","), buffer[index] != 0x0A { index += 1 }
                if index == end, !isAtEnd { return .unfinished }
                let isLast = index == end || buffer[index] == 0x0A
                let hasReturn = isLast && index > start && buffer[index - 1] == 0x0D
                fields.append(Field(start: start, end: hasReturn ? index - 1 : index, isEscaped: false))
            }
            if index < end, buffer[index] == UInt8(ascii: ",") {
                index += 1
                continue
            }
            position = min(index + 1, end)
            nextLine = line + lines
            return .record
        }
    }

    /// Finds the end of a quoted field and returns the index of the comma or newline after it; `nil` if more bytes are needed.
    private mutating func scanQuoted(from start: Int, _ lines: inout Int) throws(ImportFault) -> Int? {
        var cursor = start + 1
        var isEscaped = false
        while true {
            guard let mark = memchr(buffer + cursor, 0x22, end - cursor) else {
                guard isAtEnd else { return nil }
                throw ImportFault(.damaged(format: "CSV", "a quotation mark is not closed"), line: line)
            }
            let index = UnsafeRawPointer(mark) - UnsafeRawPointer(buffer)
            guard index + 1 < end, buffer[index + 1] == 0x22 else {
                fields.append(Field(start: start + 1, end: index, isEscaped: isEscaped))
                lines += UnsafeBufferPointer(start: buffer + start, count: index - start).count { $0 == 0x0A }
                return try skipToSeparator(index + 1)
            }
            isEscaped = true
            cursor = index + 2
        }
    }

    private func skipToSeparator(_ start: Int) throws(ImportFault) -> Int? {
        var index = start
        while index < end, buffer[index] == 0x20 || buffer[index] == 0x09 || buffer[index] == 0x0D { index += 1 }
        if index == end { return isAtEnd ? index : nil }
        guard buffer[index] == UInt8(ascii: ",") || buffer[index] == 0x0A else {
            throw ImportFault(.damaged(format: "CSV", "text after a closing quotation mark"), line: line)
        }
        return index
    }
}
