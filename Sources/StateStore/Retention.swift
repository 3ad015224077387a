import BackgrounderAPI
import FoundationEssentials
import GRDB
import Synchronization

/// Deletes what is older than the retention, once an hour and a little at a time, so that no point waits for it.
final class Retention: Sendable {
    private struct State {
        var last: ContinuousClock.Instant?
        var purge: Task<Void, Never>?
        var isEnded = false
    }

    private let age: Duration
    private let state = Mutex(State())

    /// - Parameter age: after which recorded points are deleted.
    init(_ age: Duration) {
        self.age = age
    }

    /// Begins a purge where one is due, and returns at once. Any thread.
    func purgeIfDue(_ database: DatabaseQueue) {
        let now = ContinuousClock.now
        state.withLock { state in
            if state.isEnded { return }
            if let last = state.last, now - last < .seconds(3600) { return }  // judgement: a purge an hour
            state.last = now
            let before = state.purge
            state.purge = Task { [self] in
                await before?.value
                await purge(database)
            }
        }
    }

    /// Returns when no purge is under way.
    func settled() async {
        await state.withLock { $0.purge }?.value
    }

    private func purge(_ database: DatabaseQueue) async {
        let oldest = Date(timeIntervalSinceNow: -age.seconds)
        // A purge that fails is tried again in an hour; nothing depends on it. Writers that wait come between two portions.
        while !state.withLock({ $0.isEnded }),
            let count = try? await database.write({ try $0.purge(recordedBefore: oldest) }), count > 0
        {}
    }

    /// No portion begins after this.
    func end() {
        state.withLock { $0.isEnded = true }
    }
}

extension Database {
    /// Deletes the oldest points of a portion, never one of the newest 100 live ones, and then the trips that have no point left.
    ///
    /// - Returns: how many points there were.
    func purge(recordedBefore date: Date) throws -> Int {
        var count = 0
        for (range, kept) in [("id > 0", 100), ("id < 0", 0)] {
            try execute(
                sql: """
                    DELETE FROM location WHERE id IN (SELECT id FROM location WHERE \(range) ORDER BY id LIMIT 2000)
                        AND recorded < ? AND id <= (SELECT max(id) FROM location WHERE \(range)) - \(kept)
                    """,
                arguments: [date.milliseconds]
            )
            count += changesCount
        }
        if count == 0 { try purgeTrips(recordedBefore: date) }
        return count
    }

    private func purgeTrips(recordedBefore date: Date) throws {
        let old = try Int.fetchAll(self, sql: "SELECT id FROM trip WHERE recorded < ?", arguments: [date.milliseconds])
        for trip in old {
            let isEmpty = try points(ofTrip: trip)?.allSatisfy { run in
                try Int.fetchOne(
                    cachedStatement(sql: "SELECT 1 FROM location WHERE id BETWEEN ? AND ? LIMIT 1"),
                    arguments: [run.lowerBound, run.upperBound]
                ) == nil
            }
            if isEmpty == true {
                try cachedStatement(sql: "DELETE FROM trip WHERE id = ?").execute(arguments: [trip])
            }
        }
    }
}
