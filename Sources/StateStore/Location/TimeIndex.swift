import GRDB

/// A position in the order of times; points of the same time are ordered by id.
struct TimeKey: Comparable {
    /// Milliseconds since 1970.
    var time: Int64
    var id: Int64

    static func < (a: Self, b: Self) -> Bool { (a.time, a.id) < (b.time, b.id) }
}

/// The result of a search for the next point that was not returned yet.
enum SearchResult {
    case found(TimeKey)
    /// Everything up to this key was returned; more points may follow.
    case onlyDone(TimeKey)
}

extension Database {
    // Tuned: a search delays a writer by at most a few milliseconds.
    private static var longestSearch: Int { 10_000 }

    /// Returns the first point after `cursor`, in the order of times, that is not in `done`. Reads only the index.
    func firstPoint(after cursor: TimeKey, before until: Int64, notIn done: IDSet) throws -> SearchResult? {
        let rows = try Row.fetchCursor(
            cachedStatement(
                sql: "SELECT time, id FROM location WHERE (time, id) > (?, ?) AND time < ? ORDER BY time, id LIMIT ?"
            ),
            arguments: [cursor.time, cursor.id, until, Self.longestSearch]
        )
        var last: TimeKey?
        while let row = try rows.next() {
            let key = TimeKey(time: try row.decode(atIndex: 0), id: try row.decode(atIndex: 1))
            if !done.contains(key.id) { return .found(key) }
            last = key
        }
        return last.map(SearchResult.onlyDone)
    }

    /// Returns how many of the points with the ids `own` precede the first gap between two of them that contains a
    /// whole other segment; `nil` if there is no such gap.
    func pointsBeforeFilledGap(
        _ own: ClosedRange<Int64>,
        after first: TimeKey,
        through last: TimeKey,
        _ done: IDSet
    ) throws -> Int? {
        let rows = try Row.fetchAll(
            cachedStatement(
                sql:
                    "SELECT time, id FROM location WHERE (time, id) > (?, ?) AND (time, id) <= (?, ?) ORDER BY time, id"
            ),
            arguments: [first.time, first.id, last.time, last.id]
        )
        var count = 0
        var others: (first: TimeKey, last: TimeKey)?
        for row in rows {
            let key = TimeKey(time: try row.decode(atIndex: 0), id: try row.decode(atIndex: 1))
            if own.contains(key.id) {
                if count > 0, let others, try begins(others.first), try !continues(others.last, from: key.time) {
                    return count
                }
                count += 1
                others = nil
            } else if !done.contains(key.id) {
                others = (others?.first ?? key, key)
            }
        }
        return nil
    }

    /// Returns whether a segment begins with the point `key`.
    private func begins(_ key: TimeKey) throws -> Bool {
        let rows = try Row.fetchAll(
            cachedStatement(sql: "SELECT id, segmentStart FROM location WHERE id BETWEEN ? AND ? ORDER BY id DESC"),
            arguments: [key.id - 1, key.id]
        )
        return try rows.count < 2 || rows[0].decode(Bool.self, atIndex: 1)
    }

    /// Returns whether the segment of the point `key` continues with a point at or after `time`.
    private func continues(_ key: TimeKey, from time: Int64) throws -> Bool {
        let row = try Row.fetchOne(
            cachedStatement(sql: "SELECT time, segmentStart FROM location WHERE id = ?"),
            arguments: [key.id + 1]
        )
        guard let row else { return false }
        return try row.decode(Int64.self, atIndex: 0) >= time && !row.decode(Bool.self, atIndex: 1)
    }

    /// Returns whether the history has points with these ids.
    func hasPoints(_ ids: ClosedRange<Int64>) throws -> Bool {
        try Int.fetchOne(
            cachedStatement(sql: "SELECT segmentStart FROM location WHERE id BETWEEN ? AND ? LIMIT 1"),
            arguments: [ids.lowerBound, ids.upperBound]
        ) != nil
    }

    /// Returns the number of points after `first` up to and including `last`, in the order of times. Reads only the
    /// index.
    func countPoints(after first: TimeKey, through last: TimeKey) throws -> Int {
        try Int.fetchOne(
            cachedStatement(sql: "SELECT count(*) FROM location WHERE (time, id) > (?, ?) AND (time, id) <= (?, ?)"),
            arguments: [first.time, first.id, last.time, last.id]
        ) ?? 0
    }
}
