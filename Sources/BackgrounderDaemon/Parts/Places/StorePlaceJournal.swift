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

    func index(overlapping bounds: [GeographicBounds]) throws -> [IndexedPlace] {
        try store.placeBoxes(overlapping: bounds).map { IndexedPlace(id: Int64($0.id), bounds: $0.bounds) }
    }

    func places(_ ids: [Int64]) throws -> [Place] { try store.places(ids.map(Int.init)) }

    func commit(_ events: [PlaceEvent], _ state: PlaceMonitor.State) throws -> [PlaceEvent] {
        let record = StateRecord(name: Self.record, value: try JSONEncoder().encode(state))
        return try store.append(events, state: record)
    }
}
