import BackgrounderAPI
import FleetCommands
import FoundationEssentials
import StateStore

/// The journal of the commands of a fleet, backed by the store.
struct StoreCommandJournal: CommandJournal {
    let store: StateStore

    func find(_ id: String) async throws -> StoredCommand? { try await store.command(id) }

    func receive(_ command: StoredCommand) async throws -> CommandReceipt {
        try await store.receive(command, at: Date())
    }

    func begin(_ id: String) async throws -> Bool { try await store.beginCommand(id) }

    func end(_ id: String, _ end: CommandEnd) async throws {
        try await store.endCommand(id, end.result, reason: end.reason)
    }
}
