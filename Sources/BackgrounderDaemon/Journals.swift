import AudioPlayback
import BackgrounderAPI
import FoundationEssentials
import LocationUpdates
import Logging
import StateStore

/// The journals of the location and audio modes, backed by the store: the state of a mode under its name, beside the tables.
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

    /// Returns the saved state of the player with its last known position; `nil` if there is none.
    func savedPlayer(logger: Logger) throws -> PlayerState? {
        guard let state = try saved(PlayerState.self, by: .audio, logger: logger) else { return nil }
        // An unreadable position is ignored: the state has a position too.
        return state.at(store.position())
    }

    /// Returns the state that `mode` saved last; `nil` on the first start, and if it cannot be read, which is logged.
    func saved<Value: Decodable>(_ type: Value.Type, by mode: BackgroundMode, logger: Logger) throws -> Value? {
        guard let data = try store.state(mode.rawValue) else { return nil }
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            logger.error("Cannot read the saved state of the \(mode.rawValue) mode: \(error); starting fresh")
            return nil
        }
    }

    // Unlike the encoder of the socket, a plain one keeps dates exactly.
    private func record(_ mode: BackgroundMode, _ value: some Encodable) throws -> StateRecord {
        StateRecord(name: mode.rawValue, value: try JSONEncoder().encode(value))
    }
}
