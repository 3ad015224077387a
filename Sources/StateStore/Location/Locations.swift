package import BackgrounderAPI
import FoundationEssentials
import GRDB
import Synchronization

extension StateStore {
    /// Appends `locations` to the history, and saves in the same transaction the `trips` that they change, `state` and the progress of
    /// publishers.
    ///
    /// Blocks the calling thread while the disk works. Do not call it on the cooperative thread pool.
    ///
    /// - Parameter origin: decides from when the points age; a receiver's points also set ``clock``.
    package func append(
        _ locations: [Location],
        from origin: LocationOrigin = .file,
        trips: [TripRecord] = [],
        state: StateRecord,
        durable: Bool
    ) throws {
        let floor = idFloor.load(ordering: .relaxed)
        let beginsGeneration = !locations.isEmpty && isGenerationDue.load(ordering: .relaxed)
        let recorded = Date()
        try write(durable: durable) { database in
            if beginsGeneration { try database.beginGeneration(after: max(database.newestID(), floor)) }
            let first = try database.append(locations, trips: trips, from: origin, at: recorded, above: floor)
            try database.save(state)
            // A fault of that table does not keep points from being stored. A publisher's own write reports it.
            for (publisher, progress) in takeProgress() { try? database.save(progress, of: publisher) }
            return first
        } committed: { database, first in
            latestPoints.add(locations, from: first, recorded: origin.isTimed ? nil : recorded) {
                try database.generation(of: first)
            }
        }
        if beginsGeneration { isGenerationDue.store(false, ordering: .relaxed) }
        received(locations, from: origin)
    }

    private func received(_ locations: [Location], from origin: LocationOrigin) {
        guard origin == .receiver, let newest = locations.last else { return }
        clock.receive(fixTime: newest.timestamp)
    }

    /// Returns the newest `count` points, in the order in which they were accepted and without imported points. Blocks
    /// the calling thread.
    package func newestLocations(_ count: Int) throws -> [Location] {
        try read { try $0.newestLocations(count) }
    }
}

/// The origin of points.
package enum LocationOrigin: Sendable {
    /// A receiver that has just delivered the fixes: their times are GPS time.
    case receiver
    /// A replayed file.
    case file

    /// Whether the points age from their own times.
    var isTimed: Bool { self == .receiver }
}
