package import BackgrounderAPI
package import FoundationEssentials
import GRDB
import Synchronization

extension StateStore {
    /// Returns the id of the newest recorded point; 0 if there is none.
    package func newestPoint() async throws -> Int64 {
        // The points up to here, and the trip in progress, are about to be deleted.
        await settleRecentPoints()
        return try await read { try $0.newestID() }
    }

    /// Deletes the points with `since <= timestamp < until`, of the trip `trip` or of the whole history, in portions,
    /// so that writers never wait long.
    ///
    /// The remaining points of a trip become new trips; a trip without points is deleted. Afterwards no part of the
    /// database file and its log contains the deleted points (`PRAGMA secure_delete`).
    ///
    /// - Parameters:
    ///   - newest: points recorded after the one with this id stay.
    ///   - findTrips: finds the trips in the remaining points, which come in the order of recording.
    ///   - isTrial: whether to count the points and trips without deleting anything.
    /// - Returns: the numbers of deleted points and affected trips; `nil` if there is no such trip.
    /// - Throws: ``StorageFailure``; some of the points may be deleted by then, and another call deletes the rest.
    package func deletePoints(
        since: Date?,
        until: Date?,
        ofTrip trip: Int?,
        upTo newest: Int64,
        isTrial: Bool,
        findTrips: @escaping @Sendable ([Location]) -> [TripRecord]
    ) async throws -> DeletionReply? {
        await settleRecentPoints()
        let times = Times(since: since?.milliseconds ?? .min, until: until?.milliseconds ?? .max)
        var selections = [PointSelection(ids: .min...newest, times: times)]
        if let trip {
            guard let ids = try await read({ try $0.points(ofTrip: trip) }) else { return nil }
            selections = ids.filter { $0.lowerBound <= newest }.map {
                PointSelection(ids: $0.lowerBound...min($0.upperBound, newest), times: times)
            }
        }
        if isTrial {
            return try await read { [selections] database in
                var reply = DeletionReply()
                reply.points = try selections.reduce(0) { try $0 + database.count($1) }
                reply.trips = trip == nil ? try database.tripCount(upTo: newest, times) : 1
                return reply
            }
        }
        var reply = DeletionReply()
        // Publishers know points by their ids.
        idFloor.max(newest, ordering: .relaxed)
        for selection in selections {
            while case let count = try await deletePortion(selection), count > 0 { reply.points += count }
        }
        reply.trips = try await write(durable: true) { database in
            self.latestPoints.forget()
            if try database.hasGenerations, try database.newestID() < newest {
                try database.insertGeneration(from: newest + 1)
            }
            return try database.repairTrips(findTrips)
        }
        guard reply.points > 0 else { return reply }
        do {
            try await database.releaseFreePages(keeping: 0)
        } catch {
            throw noting(error, of: .write)
        }
        return reply
    }

    private func deletePortion(_ selection: PointSelection) async throws -> Int {
        try await write(durable: true) { database in
            self.latestPoints.forget()
            return try database.deletePortion(selection)
        }
    }
}

/// A period from `since` up to, but not including, `until`, in milliseconds since 1970.
private struct Times: Sendable {
    var since: Int64
    var until: Int64
}

/// The points with these ids and times.
private struct PointSelection: Sendable {
    var ids: ClosedRange<Int64>
    var times: Times

    static let condition = "id BETWEEN ? AND ? AND time >= ? AND time < ?"

    var arguments: StatementArguments { [ids.lowerBound, ids.upperBound, times.since, times.until] }
}

extension Database {
    // Tuned: a portion takes a few milliseconds.
    private static let portionSize = 2000

    fileprivate func count(_ selection: PointSelection) throws -> Int {
        try Int.fetchOne(
            self,
            sql: "SELECT count(*) FROM location WHERE \(PointSelection.condition)",
            arguments: selection.arguments
        ) ?? 0
    }

    /// Returns the number of trips that would lose points.
    fileprivate func tripCount(upTo newest: Int64, _ times: Times) throws -> Int {
        let trips = try Int.fetchAll(
            self,
            sql: "SELECT id FROM trip WHERE ended >= ? AND began < ?",
            arguments: [times.since, times.until]
        )
        return try trips.count { trip in
            try (points(ofTrip: trip) ?? []).contains { try count(PointSelection(ids: $0, times: times)) > 0 }
        }
    }

    fileprivate func deletePortion(_ selection: PointSelection) throws -> Int {
        try settleRecentPoints()
        try execute(
            sql: """
                DELETE FROM location WHERE id IN
                    (SELECT id FROM location WHERE \(PointSelection.condition) LIMIT \(Self.portionSize))
                """,
            arguments: selection.arguments
        )
        return changesCount
    }

    /// Replaces each trip that lost points with the trips that its remaining points form.
    ///
    /// - Returns: the number of trips that had lost points.
    fileprivate func repairTrips(_ findTrips: ([Location]) -> [TripRecord]) throws -> Int {
        try settleRecentPoints()
        var count = 0
        for row in try Row.fetchAll(self, sql: "SELECT id, points, imported, recorded, firstPoint FROM trip") {
            let id: Int = row["id"]
            let left = try (points(ofTrip: id) ?? []).flatMap { range in
                try Row.fetchAll(
                    self,
                    sql: "SELECT * FROM location WHERE id BETWEEN ? AND ? ORDER BY id",
                    arguments: [range.lowerBound, range.upperBound]
                )
            }
            guard left.count < row["points"] as Int else { continue }
            count += 1
            try repairTrip(row, left, findTrips)
        }
        return count
    }

    private func repairTrip(_ trip: Row, _ left: [Row], _ findTrips: ([Location]) -> [TripRecord]) throws {
        let ids = left.map { $0["id"] as Int64 }
        var locations = left.map { Location(row: $0) }
        // The path across a gap is unknown.
        for (index, id) in ids.enumerated().dropFirst() where ids[index - 1] + 1 < id {
            locations[index].segmentStart = true
        }
        let isImported: Bool = trip["imported"]
        var firstPoints: Set<Int64> = []
        for var record in findTrips(locations) {
            let points = ids[ids.count - 1 - record.pointsAfterFirst...ids.count - 1 - record.pointsAfterLast]
            guard let first = points.first else { continue }
            firstPoints.insert(first)
            record.trip.inProgress = nil
            let recorded = Date(milliseconds: trip["recorded"])
            try save(record.trip, points: points.consecutiveRanges, imported: isImported, recorded: recorded)
        }
        guard !firstPoints.contains(trip["firstPoint"]) else { return }
        try execute(sql: "DELETE FROM trip WHERE id = ?", arguments: [trip["id"] as Int64])
    }
}

extension Collection<Int64> {
    /// `[1...3, 7...7]` of 1, 2, 3, 7.
    fileprivate var consecutiveRanges: [ClosedRange<Int64>] {
        reduce(into: []) { ranges, id in
            if let last = ranges.last, last.upperBound + 1 == id {
                ranges[ranges.count - 1] = last.lowerBound...id
            } else {
                ranges.append(id...id)
            }
        }
    }
}
