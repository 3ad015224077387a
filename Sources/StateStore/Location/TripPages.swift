import BackgrounderAPI

/// An iterator over the pages of a trip.
actor TripPages {
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
            let page = try await store.readablePoints(run, limit: HistoryPages.size)
            if page.count == HistoryPages.size, let newest = page.last?.id, newest < run.upperBound {
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
