package import BackgrounderAPI

/// The places and the events, as the observer needs them. Called on the observer's queue, which may wait for a disk.
package protocol PlaceJournal: Sendable {
    /// Returns the boxes that overlap one of `bounds`. A place across the antimeridian has two.
    func index(overlapping bounds: [GeographicBounds]) throws -> [IndexedPlace]
    /// Returns the places with these ids, those that exist.
    func places(_ ids: [Int64]) throws -> [Place]
    /// Returns the id of the trip in progress; `nil` without one.
    func openTrip() throws -> Int?
    /// Stores all of it in one durable transaction, and returns the events with their ids.
    func commit(_ changes: PlaceChanges) throws -> [PlaceEvent]
}

/// The changes that the journal stores together.
package struct PlaceChanges: Sendable {
    /// With the actions that rules start because of them.
    package var events: [PlaceEvent]
    /// The state after the events.
    package var state: PlaceMonitor.State
    /// How far the machine has come on the route; `nil` without one.
    package var route: RouteMonitor.State?
    /// The firings to insert or replace.
    package var saved: [PlaceFiring]
    /// The firings to delete.
    package var removed: [PlaceFiring.Key]
}

/// Events that were stored, and the actions to start because of them.
package struct RuledEvents: Sendable {
    package var events: [PlaceEvent]
    /// In the order in which they start; their occasions are indices of ``events``.
    package var due: [DueAction]
}
