import BackgrounderAPI
import GRDB

/// A filter as an SQL condition on the row `song`. Texts are always bound as arguments.
///
/// As in MPD, a missing tag counts as the value "", which equals "" and contains "".
struct SongCondition {
    private(set) var sql = ""
    private(set) var arguments = StatementArguments()

    init(_ filter: SongFilter) { append(filter) }

    private mutating func append(_ filter: SongFilter) {
        switch filter {
        case .all: sql += "1"
        case .tag(let name, let match): append(name, match)
        case .anyTag(let match): append(any: match)
        case .file(let match):
            append(match, column: "song.path", folded: "song.foldedPath")
        case .base(""): sql += "1"
        case .base(let folder):
            let (from, to) = pathsBelow(folder)
            add("(song.path = ? OR (song.path >= ? AND song.path < ?))", [folder, from, to])
        case .modifiedSince(let date): add("song.modified >= ?", [date.nanoseconds])
        case .and(let filters):
            sql += "(1"
            for filter in filters {
                sql += " AND "
                append(filter)
            }
            sql += ")"
        case .not(let filter):
            sql += "NOT "
            append(filter)
        }
    }

    private mutating func append(_ name: SongTagName, _ match: SongMatch) {
        guard !match.text.isEmpty else {
            switch match.kind {
            case .equals: add("NOT EXISTS (SELECT 1 FROM songTag WHERE song = song.id AND name = ?)", [name.rawValue])
            case .contains, .startsWith: sql += "1"
            }
            return
        }
        add("song.id IN (SELECT song FROM songTag WHERE name = ? AND ", [name.rawValue])
        append(match, column: "value", folded: "folded")
        sql += ")"
    }

    private mutating func append(any match: SongMatch) {
        guard !match.text.isEmpty else {
            sql += match.kind == .equals ? "0" : "1"
            return
        }
        // Listing all names lets SQLite use the index, whose first column is the name.
        let names = SongTagName.allCases.map(\.rawValue)
        let places = names.map { _ in "?" }.joined(separator: ", ")
        add("song.id IN (SELECT song FROM songTag WHERE ordinal < 1000 AND name IN (\(places)) AND ", names)
        append(match, column: "value", folded: "folded")
        sql += ")"
    }

    private mutating func append(_ match: SongMatch, column: String, folded: String) {
        let column = match.isCaseSensitive ? column : folded
        let text = match.isCaseSensitive ? match.text : NaturalKey.fold(match.text)
        switch match.kind {
        case .equals: add("\(column) = ?", [text])
        case .contains: add("instr(\(column), ?) > 0", [text])
        // U+10FFFF is the last code point, so it bounds all texts with this prefix.
        case .startsWith: add("(\(column) >= ? AND \(column) < ?)", [text, text + "\u{10FFFF}"])
        }
    }

    private mutating func add(_ sql: String, _ values: [any DatabaseValueConvertible]) {
        self.sql += sql
        arguments += StatementArguments(values)
    }
}
