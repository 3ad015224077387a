package import FoundationEssentials
import GRDB

/// The position of a point of the history, in degrees.
package struct StoredPosition: Sendable {
    package var latitude: Double
    package var longitude: Double
    package var startsSegment: Bool
}

extension StateStore {
    /// Passes the positions of the points with `since <= timestamp < until`, or of those of a trip, to `body`, in the order in which they
    /// were recorded.
    ///
    /// It is faster than ``history(since:until:)``, because it reads nothing else, and it reads on a second connection, so that it delays
    /// no writer.
    ///
    /// - Returns: `initial` as `body` changed it; `nil` if there is no trip `id`.
    /// - Throws: `StorageFailure`, for example because of a damaged page; ``history(since:until:)`` skips such pages.
    package func positions<Result: Sendable>(
        ofTrip id: Int?,
        since: Date?,
        until: Date?,
        into initial: Result,
        _ body: @escaping @Sendable (inout Result, StoredPosition) -> Void
    ) async throws -> Result? {
        await settleRecentPoints()
        let times = (since?.milliseconds ?? .min)..<(max(since, until)?.milliseconds ?? .max)
        do {
            return try await trackReader.read { database in
                guard let runs = try id.map({ try database.points(ofTrip: $0) }) ?? [.min ... .max] else { return nil }
                var result = initial
                var last: Int64?
                for (index, run) in runs.enumerated() {
                    // Runs of a trip follow each other without a gap.
                    if index > 0 { last = run.lowerBound - 1 }
                    try database.forEachPosition(run, times) { id, position in
                        var position = position
                        if last != id - 1 { position.startsSegment = true }
                        last = id
                        body(&result, position)
                    }
                }
                return result
            }
        } catch {
            throw noting(error, of: .read)
        }
    }

    /// Returns the later of two times; `nil` if there is no end.
    private func max(_ since: Date?, _ until: Date?) -> Date? {
        guard let since, let until else { return until }
        return Swift.max(since, until)
    }
}

extension Database {
    /// Passes the ids and positions of points to `body`, in the order of ids. Rows that damage made impossible are left out.
    fileprivate func forEachPosition(
        _ ids: ClosedRange<Int64>,
        _ times: Range<Int64>,
        _ body: (Int64, StoredPosition) -> Void
    ) throws {
        // For all points, or those of a trip, reading the table in its order is several times as fast as the index.
        let isRange = times != .min ..< .max && ids == .min ... .max
        let statement = try cachedStatement(
            sql: """
                SELECT id, latitude, longitude, segmentStart FROM location \(isRange ? "" : "NOT INDEXED")
                WHERE id BETWEEN ? AND ? AND time >= ? AND time < ? ORDER BY id
                """
        )
        let arguments: StatementArguments = [ids.lowerBound, ids.upperBound, times.lowerBound, times.upperBound]
        try RowReader.forEachRow(of: statement, arguments, self) { row in
            guard let id = row.integer(0), id > .min, let latitude = row.number(1), abs(latitude) <= 90,
                let longitude = row.number(2), abs(longitude) <= 180, let segmentStart = row.integer(3)
            else { return }
            body(id, StoredPosition(latitude: latitude, longitude: longitude, startsSegment: segmentStart != 0))
        }
    }
}
