import BackgrounderAPI
import LocationUpdates
import Logging
import StateStore

/// The location mode's journal, backed by the store.
struct StoreLocationJournal: LocationJournal {
    let store: StateStore

    /// Returns the checkpoint that was saved last; `nil` on the first start, and if it cannot be read, which is logged.
    func saved(logger: Logger) throws -> LocationCheckpoint? {
        try store.state(LocationCheckpoint.self, of: .location, logger: logger)
    }

    func commit(
        _ accepted: [Location],
        isLive: Bool,
        trips: [TripRecord],
        checkpoint: LocationCheckpoint,
        durable: Bool
    ) throws {
        try store.append(
            accepted,
            from: isLive ? .receiver : .file,
            trips: trips,
            state: try StateRecord(of: .location, checkpoint),
            durable: durable
        )
    }
}
