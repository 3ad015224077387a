import BackgrounderAPI
import FoundationEssentials
import SystemSupport

/// A parser of MPD's filters: expressions such as `((artist == 'Ann') AND (!(album contains "live")))`, and the older
/// pairs of a tag and a value.
///
/// Follows MPD's `song/Filter.cxx`, including its error texts.
struct MPDFilterParser {
    /// False for `search`, which ignores case.
    let isCaseSensitive: Bool
    private var rest: Substring.UTF8View = Substring("").utf8

    /// The size of MPD's buffer for a quoted value.
    private static let longestValue = 4096
    /// The deepest nesting of parentheses. Tuned: each level costs stack in every recursion over the filter.
    private static let deepest = 32

    init(isCaseSensitive: Bool) {
        self.isCaseSensitive = isCaseSensitive
    }

    /// Parses all of `arguments` as a filter. A song must match every expression and pair.
    mutating func parse(_ arguments: [String]) throws(MPDError) -> SongFilter {
        guard !arguments.isEmpty else { throw Self.incorrectCount }
        var filters: [SongFilter] = []
        var left = arguments[...]
        while let first = left.popFirst() {
            if first.utf8.first == UInt8(ascii: "(") {
                rest = Substring(first).utf8
                filters.append(try expression(depth: 0))
                guard rest.isEmpty else { throw MPDError(.argument, "Unparsed garbage after expression") }
            } else {
                guard let value = left.popFirst() else { throw Self.incorrectCount }
                filters.append(try pair(first, value))
            }
        }
        return filters.count == 1 ? filters[0] : .and(filters)
    }

    private static let incorrectCount = MPDError(.argument, "Incorrect number of filter arguments")

    // MARK: Pairs

    private func pair(_ type: String, _ value: String) throws(MPDError) -> SongFilter {
        let match = SongMatch(isCaseSensitive ? .equals : .contains, value, isCaseSensitive: isCaseSensitive)
        switch type.lowercased() {
        case "any": return .anyTag(match)
        case "file", "filename": return .file(match)
        case "base":
            guard value.isEmpty || value.isRelativePath else { throw MPDError(.argument, "Bad URI") }
            return .base(value)
        case "modified-since": return .modifiedSince(try time(value))
        default:
            guard let tag = MPDTag(type) else { throw MPDError(.argument, "Unknown filter type") }
            return tag.filter(match)
        }
    }

    private func time(_ text: String) throws(MPDError) -> Date {
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Double(text) {
            return Date(timeIntervalSince1970: seconds)
        }
        guard let date = ISO8601.date(text) else { throw MPDError(.argument, "Failed to parse date") }
        return date
    }

    // MARK: Expressions

    /// Parses an expression, from its opening parenthesis through the closing one.
    private mutating func expression(depth: Int) throws(MPDError) -> SongFilter {
        guard depth < Self.deepest else { throw MPDError(.argument, "Too many levels of parentheses") }
        guard skip("(") else { throw MPDError(.argument, "Word expected") }
        if rest.first == UInt8(ascii: "(") { return try conjunction(depth: depth) }
        if skip("!") {
            guard rest.first == UInt8(ascii: "(") else { throw MPDError(.argument, "'(' expected") }
            let inner = try expression(depth: depth + 1)
            try close()
            return .not(inner)
        }
        let word = try self.word()
        let filter: SongFilter
        switch word.lowercased() {
        case "modified-since": filter = .modifiedSince(try time(try quoted()))
        case "base":
            let folder = try quoted()
            guard folder.isEmpty || folder.isRelativePath else { throw .noSuchDirectory }
            filter = .base(folder)
        case "any":
            let (match, isNegated) = try comparison()
            filter = isNegated ? .not(.anyTag(match)) : .anyTag(match)
        case "file", "filename":
            let (match, isNegated) = try comparison()
            filter = isNegated ? .not(.file(match)) : .file(match)
        default:
            guard let tag = MPDTag(word) else { throw MPDError(.argument, "Unknown filter type: \(word)") }
            let (match, isNegated) = try comparison()
            filter = isNegated ? .not(tag.filter(match)) : tag.filter(match)
        }
        try close()
        return filter
    }

    private mutating func conjunction(depth: Int) throws(MPDError) -> SongFilter {
        var filters = [try expression(depth: depth + 1)]
        while !skip(")") {
            guard try word() == "AND" else { throw MPDError(.argument, "'AND' expected") }
            filters.append(try expression(depth: depth + 1))
        }
        return filters.count == 1 ? filters[0] : .and(filters)
    }

    private mutating func comparison() throws(MPDError) -> (SongMatch, isNegated: Bool) {
        var isNegated = false
        let kind: SongMatch.Kind
        if skip("==") {
            kind = .equals
        } else if skip("!=") {
            (kind, isNegated) = (.equals, true)
        } else if skip("=~") || skip("!~") {
            throw MPDError(.argument, "Regular expressions are not supported; use contains or starts_with")
        } else {
            isNegated = skip("!")
            if skip("contains ") {
                kind = .contains
            } else if skip("starts_with ") {
                kind = .startsWith
            } else {
                throw MPDError(.argument, "'==' or '!=' expected")
            }
        }
        return (SongMatch(kind, try quoted(), isCaseSensitive: isCaseSensitive), isNegated)
    }

    private mutating func close() throws(MPDError) {
        guard skip(")") else { throw MPDError(.argument, "')' expected") }
    }

    /// Consumes `text` and the blanks after it; returns false if the input does not begin with `text`.
    private mutating func skip(_ text: StaticString) -> Bool {
        let bytes = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard rest.starts(with: bytes) else { return false }
        rest = rest.dropFirst(bytes.count)
        dropBlanks()
        return true
    }

    private mutating func dropBlanks() {
        rest = rest.drop { $0 <= 0x20 }
    }

    private mutating func word() throws(MPDError) -> String {
        let word = rest.prefix { $0.isLetter || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        guard word.first?.isLetter == true else { throw MPDError(.argument, "Word expected") }
        rest = rest.dropFirst(word.count)
        dropBlanks()
        return String(decoding: word, as: UTF8.self)
    }

    private mutating func quoted() throws(MPDError) -> String {
        guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw MPDError(.argument, "Quoted string expected")
        }
        var value: [UInt8] = []
        var isEscaped = false
        rest = rest.dropFirst()
        while let byte = rest.popFirst() {
            if !isEscaped, byte == quote {
                dropBlanks()
                return String(decoding: value, as: UTF8.self)
            }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            if !isEscaped { value.append(byte) }
            guard value.count < Self.longestValue else { throw MPDError(.argument, "Quoted value is too long") }
        }
        throw MPDError(.argument, "Closing quote not found")
    }
}

extension String {
    /// Whether this is a valid path inside the music directory: no leading `/`, no empty components, no `.` and `..`.
    var isRelativePath: Bool {
        split(separator: "/", omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
    }
}
