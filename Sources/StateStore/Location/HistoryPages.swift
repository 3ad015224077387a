import BackgrounderAPI
import FoundationEssentials
import GRDB

/// An iterator over the pages of the history.
actor HistoryPages {
    // Tuned: reading a page takes about 2 ms.
    static let size = 1000

    private enum Phase {
        case created
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
    private var phase = Phase.created
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
            case .created:
                await store.settleRecentPoints()
                phase = .searching
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
            case nil: phase = await store.settleRecentPoints() ? .searching : .ended
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
        let page = try await store.readablePoints(id ... .max, limit: Self.size)
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
        phase = points.count == Self.size ? .reading(newest.id + 1, isFirst: false) : .searching
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
        let page = try await store.readablePoints(id ... .max, limit: Self.size)
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

extension StoredPoint {
    /// Returns whether this point follows `before` in the same segment.
    fileprivate func continues(_ before: StoredPoint) -> Bool {
        location.segmentStart != true && id == before.id + 1 && time >= before.time
    }
}
