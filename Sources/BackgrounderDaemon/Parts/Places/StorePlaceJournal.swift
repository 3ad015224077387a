import BackgrounderAPI
import FoundationEssentials
import Logging
import Places
import StateStore

/// The observer's journal, backed by the store.
struct StorePlaceJournal: PlaceJournal {
    let store: StateStore

    private static let record = "places"

    /// Returns the stored state; `nil` without one, or with one that this version cannot read.
    func saved(logger: Logger) throws -> PlaceMonitor.State? {
        guard let data = try store.state(Self.record) else { return nil }
        do {
            return try JSONDecoder().decode(PlaceMonitor.State.self, from: data)
        } catch {
            logger.warning("Cannot read the stored state of the places; starting without it: \(error)")
            return nil
        }
    }

    /// Returns when each rule fired last for each place.
    func firings() throws -> [PlaceFiring] { try store.ruleFirings().map(PlaceFiring.init) }

    func index(overlapping bounds: [GeographicBounds]) throws -> [IndexedPlace] {
        try store.placeBoxes(overlapping: bounds).map { IndexedPlace(id: Int64($0.id), bounds: $0.bounds) }
    }

    func places(_ ids: [Int64]) throws -> [Place] { try store.places(ids.map(Int.init)) }

    func openTrip() throws -> Int? { try store.openTrip() }

    func commit(_ changes: PlaceChanges) throws -> [PlaceEvent] {
        try store.append(
            changes.events,
            firings: changes.saved.map(RuleFiring.init),
            obsolete: changes.removed.map { ($0.rule, $0.placeId) },
            states: [StateRecord(name: Self.record, value: try JSONEncoder().encode(changes.state))]
                + (try changes.route.map { [try PlaceRoute.progress($0)] } ?? [])
        )
    }
}

extension PlaceFiring {
    fileprivate init(_ stored: RuleFiring) {
        self.init(
            key: Key(rule: stored.rule, placeId: stored.placeId),
            time: stored.time,
            utcOffset: stored.utcOffset,
            tripId: stored.tripId,
            isVisitOver: stored.isVisitOver
        )
    }
}

extension RuleFiring {
    fileprivate init(_ firing: PlaceFiring) {
        self.init(
            rule: firing.key.rule,
            placeId: firing.key.placeId,
            time: firing.time,
            utcOffset: firing.utcOffset,
            tripId: firing.tripId,
            isVisitOver: firing.isVisitOver
        )
    }
}
