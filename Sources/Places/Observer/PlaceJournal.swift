package import BackgrounderAPI

/// The places and the events, as the observer needs them. Called on the observer's queue, which may wait for a disk.
package protocol PlaceJournal: Sendable {
    /// Returns the boxes that overlap one of `bounds`. A place across the antimeridian has two.
    func index(overlapping bounds: [GeographicBounds]) throws -> [IndexedPlace]
    /// Returns the places with these ids, those that exist.
    func places(_ ids: [Int64]) throws -> [Place]
    /// Stores events and the state after them in one durable transaction, and returns the events with their ids.
    func commit(_ events: [PlaceEvent], _ state: PlaceMonitor.State) throws -> [PlaceEvent]
}
