package import FoundationEssentials
import GRDB
import Glibc
import Synchronization
import SystemSupport

/// The result of one purge: the points and trips that it deleted.
package struct Purge: Hashable, Sendable, CustomStringConvertible {
    /// The setting that caused the purge.
    package enum Cause: String, Hashable, Sendable {
        case age = "older than store.retention"
        case size = "to stay within store.maximumSize"
    }

    package var cause: Cause
    /// Deleted points.
    package var points = 0
    /// Deleted trips.
    package var trips = 0
    /// The times of the oldest and the newest deleted point.
    package var range: ClosedRange<Date>?

    /// `Deleted 86400 points and 3 trips older than store.retention, from 2025-11-21T06:55:49.786Z to 2025-11-22T…`
    package var description: String {
        let span = range.map { ", from \(ISO8601.string($0.lowerBound)) to \(ISO8601.string($0.upperBound))" } ?? ""
        let (points, trips) = (counted(points, "point"), trips == 0 ? "" : " and \(counted(trips, "trip"))")
        return "Deleted \(points)\(trips) \(cause.rawValue)\(span)"
    }

    init(_ cause: Cause) {
        self.cause = cause
    }

    fileprivate mutating func add(_ portion: PurgedPortion) {
        points += portion.count
        guard portion.count > 0 else { return }
        let times = Date(milliseconds: portion.oldest)...Date(milliseconds: portion.newest)
        range = range.map { min($0.lowerBound, times.lowerBound)...max($0.upperBound, times.upperBound) } ?? times
    }
}

/// Deletes points older than the retention: at most once an hour, at most one day's worth of points at a time, and in
/// small portions, so that writers never wait long. Once an hour it also deletes the oldest points while the file is
/// larger than its maximum size.
///
/// A point from a receiver ages from its own time. A replayed or imported point ages from its own time or from when it
/// was stored, the later of the two. While no clock is trusted, nothing is deleted because of its age.
final class Retention: Sendable {
    private struct State {
        var next: ContinuousClock.Instant?
        /// When the size is checked next.
        var nextMeasurement: ContinuousClock.Instant?
        var purge: Task<Void, Never>?
        var isEnded = false
    }

    // Tuned: the hour and the day limit the loss that a trusted but wrong clock causes before a user reads the log.
    private static let interval: Double = 3600
    private static let window: Int64 = 86_400_000

    private let age: Duration
    private let maximumSize: Int?
    private let clock: TrustedClock
    private let onPurge: @Sendable (Purge) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - age: the age after which points are deleted.
    ///   - maximumSize: the maximum size of the file in bytes, or `nil` for no limit.
    ///   - onPurge: called on no particular thread after a purge that deleted something.
    init(
        _ age: Duration,
        maximumSize: Int? = nil,
        clock: TrustedClock,
        onPurge: @escaping @Sendable (Purge) -> Void
    ) {
        self.age = age
        self.maximumSize = maximumSize
        self.clock = clock
        self.onPurge = onPurge
    }

    /// Starts a purge if one is due, and returns immediately. May be called from any thread.
    ///
    /// - Parameter isWell: returns whether the storage has no problems.
    func purgeIfDue(_ database: DatabaseQueue, isWell: @escaping @Sendable () -> Bool) {
        let instant = ContinuousClock.now
        state.withLock { state in
            if state.isEnded { return }
            let now = state.next.map { instant < $0 } == true ? nil : clock.now
            let measures = maximumSize != nil && state.nextMeasurement.map { instant < $0 } != true
            guard now != nil || measures else { return }
            if now != nil { state.next = instant + .seconds(Self.interval) }
            if measures { state.nextMeasurement = instant + .seconds(Self.interval) }
            let before = state.purge
            state.purge = Task { [self] in
                await before?.value
                if let now {
                    await purge(database, now: now.milliseconds)
                    let copy = try? await database.write { [isWell = isWell()] database in
                        try database.reviewMigrationCopy(now: now.milliseconds, isWell: isWell)
                    }
                    if let copy = copy ?? nil { unlink(copy.path) }
                }
                if measures, let maximumSize { await shrink(database, to: maximumSize) }
            }
        }
    }

    /// Waits until no purge is running.
    func waitForPurge() async {
        await state.withLock { $0.purge }?.value
    }

    /// Stops purging: no further portion begins.
    func end() {
        state.withLock { $0.isEnded = true }
    }

    /// Deletes the points that are too old. Waiting writers get their turn between two portions.
    ///
    /// A failed purge is retried in an hour, because nothing depends on it.
    private func purge(_ database: DatabaseQueue, now: Int64) async {
        guard let parts = try? await database.write({ try $0.beginPurge(now: now, every: Self.interval) }) else {
            return
        }
        let cutoff = now - age.milliseconds
        var purge = Purge(.age)
        var dayStart: Int64?
        for part in parts {
            var cursor = PurgeCursor(part: part, now: now, cutoff: cutoff, window: Self.window, dayStart: dayStart)
            while !state.withLock({ $0.isEnded }) {
                let position = cursor
                guard let portion = try? await database.write({ try $0.purgePortion(position) }) else { break }
                purge.add(portion)
                guard let next = portion.next else { break }
                cursor = next
            }
            dayStart = cursor.dayStart
        }
        await end(purge, database)
    }

    /// Deletes the oldest points while the file uses more than `size` bytes.
    private func shrink(_ database: DatabaseQueue, to size: Int) async {
        var purge = Purge(.size)
        while !state.withLock({ $0.isEnded }) {
            guard let portion = try? await database.write({ try $0.purgeOldest(above: size) }), portion.count > 0 else {
                break
            }
            purge.add(portion)
        }
        await end(purge, database)
    }

    private func end(_ purge: Purge, _ database: DatabaseQueue) async {
        guard purge.points > 0 else { return }
        var purge = purge
        purge.trips = (try? await database.write { try $0.deleteTripsWithoutPoints() }) ?? 0
        // Errors are ignored: the next purge tries again.
        if let kept = try? await database.read({ try $0.freePagesWorthKeeping }) {
            try? await database.releaseFreePages(keeping: kept)
        }
        onPurge(purge)
    }
}

/// One of the two parts of the history: recorded points have ids above 0, imported points below 0.
struct HistoryPart: Sendable {
    let condition: String
    /// The number of newest points that are never purged: the rolling track.
    let kept: Int

    static let all = [HistoryPart(condition: "id > 0", kept: 100), HistoryPart(condition: "id < 0", kept: 0)]
}

/// The position of a purge in one part of the history. Times are milliseconds since 1970.
struct PurgeCursor: Sendable {
    var part: HistoryPart
    var now: Int64
    /// Points from this time on stay.
    var cutoff: Int64
    var window: Int64
    /// The time of the first expired point that this purge found. The purge deletes one `window` of time from here.
    var dayStart: Int64?
    /// The last id that was examined.
    var id = Int64.min
}

/// The result of purging one portion.
struct PurgedPortion: Sendable {
    var count = 0
    var oldest = Int64.max
    var newest = Int64.min
    /// Where to continue; `nil` at the end.
    var next: PurgeCursor?
}

extension Database {
    /// The state record with the start of the last purge, so that restarts do not make purges more frequent.
    private static let purgeState = "retention.last"
    private static let portionSize = 2000  // Tuned: a portion takes a few milliseconds.

    /// Records the start of a purge if the last one began at least `interval` seconds ago. A last purge in the future
    /// does not count: a wrong clock recorded it.
    ///
    /// - Returns: the parts of the history, the one with the older points first; empty if no purge is due.
    fileprivate func beginPurge(now: Int64, every interval: Double) throws -> [HistoryPart] {
        let last = try Data.fetchOne(self, sql: "SELECT value FROM state WHERE name = ?", arguments: [Self.purgeState])
            .flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
        if let last, (0..<Int64(interval * 1000)).contains(now - last) { return [] }
        try save(StateRecord(name: Self.purgeState, value: Data(String(now).utf8)))
        return try historyParts()
    }

    /// Returns the parts of the history, the one with the older points first.
    private func historyParts() throws -> [HistoryPart] {
        try HistoryPart.all.map { part in
            let sql = "SELECT max(time, recorded) FROM location WHERE \(part.condition) ORDER BY id LIMIT 1"
            return (part, try Int64.fetchOne(self, sql: sql) ?? .max)
        }.sorted { $0.1 < $1.1 }.map(\.0)
    }

    /// Deletes the next portion of the oldest points while the file uses more than `size` bytes.
    fileprivate func purgeOldest(above size: Int) throws -> PurgedPortion {
        var portion = PurgedPortion()
        guard try usedSize > size else { return portion }
        try settleRecentPoints()
        for part in try historyParts() where portion.count == 0 {
            let rows = try Row.fetchAll(
                self,
                sql: """
                    DELETE FROM location WHERE id IN (
                        SELECT id FROM location WHERE \(part.condition)
                            AND id <= (SELECT max(id) FROM location WHERE \(part.condition)) - \(part.kept)
                        ORDER BY id LIMIT \(Self.portionSize))
                    RETURNING max(time, recorded) AS dated
                    """
            )
            for time in rows.map({ $0["dated"] as Int64 }) {
                portion.count += 1
                portion.oldest = min(portion.oldest, time)
                portion.newest = max(portion.newest, time)
            }
        }
        return portion
    }

    /// Examines the next portion of points, in the order of recording, and deletes the expired ones within the day of
    /// the purge.
    fileprivate func purgePortion(_ cursor: PurgeCursor) throws -> PurgedPortion {
        // They count among the newest points, which stay.
        try settleRecentPoints()
        let part = cursor.part.condition
        let rows = try Row.fetchAll(
            cachedStatement(
                sql: """
                    SELECT id, max(time, recorded) AS dated FROM location WHERE \(part) AND id > ?
                        AND id <= (SELECT max(id) FROM location WHERE \(part)) - \(cursor.part.kept)
                    ORDER BY id LIMIT \(Self.portionSize)
                    """
            ),
            arguments: [cursor.id]
        ).map { (id: $0["id"] as Int64, dated: $0["dated"] as Int64) }
        guard let last = rows.last?.id else { return PurgedPortion() }
        let expired = rows.filter { $0.dated < cursor.cutoff }
        let dayStart = cursor.dayStart ?? expired.first?.dated
        let due = expired.filter { point in
            dayStart.map { ($0..<$0 + cursor.window).contains(point.dated) } == true
        }
        var portion = PurgedPortion()
        let delete = try cachedStatement(sql: "DELETE FROM location WHERE id = ?")
        for point in due {
            try delete.execute(arguments: [point.id])
            portion.count += 1
            portion.oldest = min(portion.oldest, point.dated)
            portion.newest = max(portion.newest, point.dated)
        }
        // A portion with only future points, which a wrong clock recorded, deletes nothing; older points may follow.
        if !due.isEmpty || rows.allSatisfy({ $0.dated > cursor.now }) {
            portion.next = cursor
            portion.next?.id = last
            portion.next?.dayStart = dayStart
        }
        return portion
    }

    /// Deletes the trips whose first point is gone; the trip in progress stays as long as it has its last point.
    ///
    /// - Returns: the number of deleted trips.
    func deleteTripsWithoutPoints() throws -> Int {
        try settleRecentPoints()
        try execute(
            sql: """
                DELETE FROM trip WHERE firstPoint NOT IN (SELECT id FROM location)
                    AND (isOpen = 0 OR lastPoint NOT IN (SELECT id FROM location))
                """
        )
        return changesCount
    }
}
