import AudioPlayback
import BackgrounderAPI
import FoundationEssentials
import LocationUpdates
import Logging
import StateStore

/// The modes' journals, kept in the store: a mode's own state under its name, beside the tables.
struct StoreJournal: LocationJournal, PlayerJournal {
    let store: StateStore

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
            state: try record(.location, checkpoint),
            durable: durable
        )
    }

    func save(_ changes: [QueueChange], state: PlayerState) async throws {
        try await store.save(changes, state: try record(.audio, state))
    }

    func save(state: PlayerState) async throws {
        try await store.save(try record(.audio, state), durable: true)
    }

    func keep(_ position: PlayerPosition) throws {
        try store.keep(position)
    }

    /// What the player was doing, as far as it is known.
    func savedPlayer(logger: Logger) throws -> PlayerState? {
        guard let state = try saved(PlayerState.self, by: .audio, logger: logger) else { return nil }
        // One that cannot be read is one that is not there: the state has a position too.
        return state.at(store.position())
    }

    /// The state that `mode` saved last; `nil` on the first start, and when it cannot be read, which is said.
    func saved<Value: Decodable>(_ type: Value.Type, by mode: BackgroundMode, logger: Logger) throws -> Value? {
        guard let data = try store.state(mode.rawValue) else { return nil }
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            logger.error("What the \(mode.rawValue) mode saved cannot be read, and it begins anew: \(error)")
            return nil
        }
    }

    // A plain encoder: unlike the one of the socket it keeps dates to the last bit, and nobody reads this but we.
    private func record(_ mode: BackgroundMode, _ value: some Encodable) throws -> StateRecord {
        StateRecord(name: mode.rawValue, value: try JSONEncoder().encode(value))
    }
}
