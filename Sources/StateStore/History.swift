package import BackgrounderAPI
package import FoundationEssentials
import GRDB

extension StateStore {
    /// Returns the points with `since <= timestamp < until`, in pages, so that a long answer neither fills the memory
    /// nor delays the writers.
    ///
    /// Segments come whole, in the order of their first points. If a clock was set back, two segments can cover the
    /// same time; points sorted by time alone would jump between them. Points that damage makes unreadable are skipped,
    /// and the point after such a gap opens a segment.
    package func history(since: Date?, until: Date?) -> AsyncThrowingStream<[Location], any Error> {
        let pages = HistoryPages(store: self, since: since?.milliseconds ?? .min, until: until?.milliseconds ?? .max)
        return AsyncThrowingStream { try await pages.next() }
    }

    /// Returns the points of a trip with `since <= timestamp < until`, in the order in which they were recorded and in
    /// pages like ``history(since:until:)``; `nil` if there is no such trip.
    package func history(
        ofTrip id: Int,
        since: Date?,
        until: Date?
    ) async throws -> AsyncThrowingStream<[Location], any Error>? {
        guard let runs = try await read({ try $0.points(ofTrip: id) }) else { return nil }
        let pages = TripPages(
            store: self,
            runs: runs,
            since: since?.milliseconds ?? .min,
            until: until?.milliseconds ?? .max
        )
        return AsyncThrowingStream { try await pages.next() }
    }
}

// Tuned: reading a page takes about 2 ms.
private let pageSize = 1000

/// An iterator over the pages of the history.
private actor HistoryPages {
    private enum Phase {
        /// Between two segments.
        case searching
        /// Inside a segment; its next point, if any, has this id.
        case reading(Int64, isFirst: Bool)
        /// The time index is damaged; the remaining points come in the order of ids, from this one on.
        case scanning(Int64)
        case ended
    }

    private let store: StateStore
    private let since: Int64
    private let until: Int64
    private var phase = Phase.searching
    /// Every point up to this key was returned.
    private var cursor: TimeKey
    /// Ids after the cursor that were returned or cannot be read.
    private var done = IDSet()
    /// The last point that was returned.
    private var last: StoredPoint?
    /// Whether the next point opens a segment although it is not stored as a segment start.
    private var isAfterGap = false

    init(store: StateStore, since: Int64, until: Int64) {
        self.store = store
        self.since = since
        self.until = until
        cursor = TimeKey(time: since == .min ? .min : since - 1, id: .max)
    }

    func next() async throws -> [Location]? {
        while true {
            switch phase {
            case .searching: try await search()
            case .reading(let id, let isFirst):
                let points = try await segmentPoints(from: id, isFirst: isFirst)
                if !points.isEmpty { return give(points) }
            case .scanning(let id):
                let points = try await remainingPoints(from: id)
                if !points.isEmpty { return give(points) }
            case .ended: return nil
            }
        }
    }

    /// Finds the start of the next segment.
    private func search() async throws {
        do {
            let (cursor, until, done) = (cursor, until, done)
            switch try await store.read({ try $0.firstPoint(after: cursor, before: until, notIn: done) }) {
            case .found(let key):
                phase = .reading(key.id, isFirst: true)
                try await lookForGap(before: key)
            case .onlyDone(let last): self.cursor = last
            case nil: phase = .ended
            }
        } catch let failure as StorageFailure where failure.kind == .damaged {
            phase = .scanning(.min)
        }
    }

    /// Sets ``isAfterGap`` if the points before `next` were deleted or cannot be read, or if time jumps back at `next`.
    private func lookForGap(before next: TimeKey) async throws {
        guard let last else { return }
        isAfterGap = next.time < last.time
        guard !isAfterGap, next.id > last.id + 1, (next.id > 0) == (last.id > 0) else { return }
        do {
            isAfterGap = try await !store.read { try $0.hasPoints(last.id + 1...next.id - 1) }
        } catch let failure as StorageFailure where failure.kind == .damaged {
            isAfterGap = true
        }
    }

    /// Returns the next points of a segment, at most a page, starting with the point `id`; empty if the segment is
    /// over.
    private func segmentPoints(from id: Int64, isFirst: Bool) async throws -> [StoredPoint] {
        let page = try await store.readablePoints(id ... .max, limit: pageSize)
        if isFirst, page.first?.id != id {
            done.insert(id...(page.first.map { $0.id - 1 } ?? .max))
            phase = .searching
            return []
        }
        var points: [StoredPoint] = []
        for point in page {
            if let before = points.last ?? (isFirst ? nil : last) {
                guard point.continues(before) else { break }
            }
            guard since <= point.time, point.time < until, !done.contains(point.id) else { break }
            points.append(point)
        }
        guard let newest = points.last else {
            phase = .searching
            return []
        }
        phase = points.count == pageSize ? .reading(newest.id + 1, isFirst: false) : .searching
        return try await finish(points, upTo: newest)
    }

    /// Moves the cursor past `points`, or adds them to ``done`` if points of other segments lie between them.
    ///
    /// - Returns: the points up to the first time gap that other points fill; those points come next. Such gaps exist
    ///   where an import found some of its points in the history already.
    private func finish(_ points: [StoredPoint], upTo newest: StoredPoint) async throws -> [StoredPoint] {
        do {
            let (cursor, key) = (cursor, TimeKey(time: newest.time, id: newest.id))
            if try await store.read({ try $0.countPoints(after: cursor, through: key) }) == points.count {
                self.cursor = key
                return points
            }
            let (own, done) = (points[0].id...newest.id, done)
            if let count = try await store.read({ try $0.pointsBeforeFilledGap(own, after: cursor, through: key, done) }
            ) {
                phase = .searching
                self.done.insert(points[0].id...points[count - 1].id)
                return Array(points.prefix(count))
            }
        } catch let failure as StorageFailure where failure.kind == .damaged {
            // The next search meets the damage again.
        }
        done.insert(points[0].id...newest.id)
        return points
    }

    /// Returns the points of the next page of ids that were not returned yet.
    private func remainingPoints(from id: Int64) async throws -> [StoredPoint] {
        let page = try await store.readablePoints(id ... .max, limit: pageSize)
        guard let newest = page.last else {
            phase = .ended
            return []
        }
        phase = .scanning(newest.id + 1)
        return page.filter { point in
            since <= point.time && point.time < until && TimeKey(time: point.time, id: point.id) > cursor
                && !done.contains(point.id)
        }
    }

    private func give(_ points: [StoredPoint]) -> [Location] {
        var locations = points.locations(after: nil)
        if isAfterGap { locations[0].segmentStart = true }
        (last, isAfterGap) = (points.last, false)
        return locations
    }
}

/// An iterator over the pages of a trip.
private actor TripPages {
    private let store: StateStore
    private let since: Int64
    private let until: Int64
    /// The ids that are still to be read.
    private var runs: ArraySlice<ClosedRange<Int64>>
    private var last: StoredPoint?

    init(store: StateStore, runs: [ClosedRange<Int64>], since: Int64, until: Int64) {
        self.store = store
        self.runs = runs[...]
        self.since = since
        self.until = until
    }

    func next() async throws -> [Location]? {
        while let run = runs.popFirst() {
            let page = try await store.readablePoints(run, limit: pageSize)
            if page.count == pageSize, let newest = page.last?.id, newest < run.upperBound {
                runs = [newest + 1...run.upperBound] + runs
            }
            let points = page.filter { since <= $0.time && $0.time < until }
            if !points.isEmpty {
                // A run that does not follow the last point opens no segment, because both are part of the same trip.
                defer { last = points.last }
                return points.locations(after: run.lowerBound == last.map { $0.id + 1 } ? last : nil)
            }
        }
        return nil
    }
}

extension [StoredPoint] {
    /// Returns the locations; a point whose id does not follow the id of the point before it opens a segment.
    fileprivate func locations(after last: StoredPoint?) -> [Location] {
        var before = last
        return map { point in
            defer { before = point }
            guard let before, before.id + 1 != point.id else { return point.location }
            var location = point.location
            location.segmentStart = true
            return location
        }
    }
}

extension StoredPoint {
    /// Returns whether this point follows `before` in the same segment.
    fileprivate func continues(_ before: StoredPoint) -> Bool {
        location.segmentStart != true && id == before.id + 1 && time >= before.time
    }
}

/// A position in the order of times; points of the same time are ordered by id.
fileprivate struct TimeKey: Comparable {
    /// Milliseconds since 1970.
    var time: Int64
    var id: Int64

    static func < (a: Self, b: Self) -> Bool { (a.time, a.id) < (b.time, b.id) }
}

/// A set of ids, stored as ranges.
private struct IDSet {
    /// Ascending, with gaps between them.
    private var ranges: [ClosedRange<Int64>] = []

    func contains(_ id: Int64) -> Bool {
        let index = firstIndex(endingAtOrAfter: id)
        return index < ranges.count && ranges[index].contains(id)
    }

    mutating func insert(_ range: ClosedRange<Int64>) {
        let first = firstIndex(endingAtOrAfter: range.lowerBound == .min ? .min : range.lowerBound - 1)
        var merged = range
        var end = first
        while end < ranges.count,
            ranges[end].lowerBound <= range.upperBound || ranges[end].lowerBound - 1 == range.upperBound
        {
            merged = min(merged.lowerBound, ranges[end].lowerBound)...max(merged.upperBound, ranges[end].upperBound)
            end += 1
        }
        ranges.replaceSubrange(first..<end, with: [merged])
    }

    private func firstIndex(endingAtOrAfter id: Int64) -> Int {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The result of a search for the next point that was not returned yet.
private enum SearchResult {
    case found(TimeKey)
    /// Everything up to this key was returned; more points may follow.
    case onlyDone(TimeKey)
}

extension Database {
    // Tuned: a search delays a writer by at most a few milliseconds.
    private static var longestSearch: Int { 10_000 }

    /// Returns the first point after `cursor`, in the order of times, that is not in `done`. Reads only the index.
    fileprivate func firstPoint(after cursor: TimeKey, before until: Int64, notIn done: IDSet) throws -> SearchResult? {
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
    fileprivate func pointsBeforeFilledGap(
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
    fileprivate func hasPoints(_ ids: ClosedRange<Int64>) throws -> Bool {
        try Int.fetchOne(
            cachedStatement(sql: "SELECT segmentStart FROM location WHERE id BETWEEN ? AND ? LIMIT 1"),
            arguments: [ids.lowerBound, ids.upperBound]
        ) != nil
    }

    /// Returns the number of points after `first` up to and including `last`, in the order of times. Reads only the
    /// index.
    fileprivate func countPoints(after first: TimeKey, through last: TimeKey) throws -> Int {
        try Int.fetchOne(
            cachedStatement(sql: "SELECT count(*) FROM location WHERE (time, id) > (?, ?) AND (time, id) <= (?, ?)"),
            arguments: [first.time, first.id, last.time, last.id]
        ) ?? 0
    }
}
