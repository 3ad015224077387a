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
        await settleRecentPoints()
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
