import AudioPlayback
import BackgrounderAPI
import FoundationEssentials
import LocationUpdates
import StateStore

/// The modes' journals, kept in the store: a mode's own state under its name, beside the tables.
struct StoreJournal: LocationJournal, PlayerJournal {
    let store: StateStore

    func commit(_ accepted: [Location], checkpoint: LocationCheckpoint, durable: Bool) async throws {
        try await store.append(accepted, state: try record(.location, checkpoint), durable: durable)
    }

    func save(queue: [PlayerItem], state: PlayerState) async throws {
        try await store.save(queue: queue, state: try record(.audio, state))
    }

    func save(state: PlayerState, durable: Bool) async throws {
        try await store.save(try record(.audio, state), durable: durable)
    }

    /// The state that `mode` saved last; `nil` on the first start, or when an earlier version wrote something else.
    func saved<Value: Decodable>(_ type: Value.Type, by mode: BackgroundMode) throws -> Value? {
        try store.state(mode.rawValue).flatMap { try? JSONDecoder().decode(type, from: $0) }
    }

    // A plain encoder: unlike the one of the socket it keeps dates to the last bit, and nobody reads this but we.
    private func record(_ mode: BackgroundMode, _ value: some Encodable) throws -> StateRecord {
        StateRecord(name: mode.rawValue, value: try JSONEncoder().encode(value))
    }
}
