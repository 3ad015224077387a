import AudioPlayback
import BackgrounderAPI
import Logging
import StateStore

/// The player's journal, backed by the store.
struct StorePlayerJournal: PlayerJournal {
    let store: StateStore

    /// Returns the saved state of the player with its last known position; `nil` on the first start, and if it cannot be
    /// read, which is logged.
    func saved(logger: Logger) throws -> PlayerState? {
        // An unreadable position is ignored: the state has a position too.
        try store.state(PlayerState.self, of: .audio, logger: logger)?.at(store.position())
    }

    func save(_ changes: [QueueChange], state: PlayerState, isStateNew: Bool) async throws {
        try await store.save(changes, state: try StateRecord(of: .audio, state), isStateNew: isStateNew)
    }

    func save(state: PlayerState) async throws {
        try await store.save(try StateRecord(of: .audio, state), durable: true)
    }

    func save(position: PlayerPosition) throws { try store.save(position) }
}
