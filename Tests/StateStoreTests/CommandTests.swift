import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import StateStore

/// The commands of the fleet that the store keeps.
@Suite struct CommandTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private func command() -> StoredCommand {
        StoredCommand(id: "a", publisher: "office", content: [], expires: Date(timeIntervalSince1970: 2e9))
    }

    private func receive(_ store: StateStore) async throws -> CommandReceipt {
        try await store.receive(command(), at: Date(timeIntervalSince1970: 1e9))
    }

    @Test func `a command is on the disk before it is acknowledged, and its start before it is executed`() async throws
    {
        let store = try fixture.open(syncInterval: .seconds(3600))
        let synced = try LogSyncs(of: store)
        #expect(try await receive(store) == .stored)
        #expect((synced.count, synced.writesSinceSync) == (1, 0))
        #expect(try await store.beginCommand("a"))
        #expect((synced.count, synced.writesSinceSync) == (2, 0))
        // Neither a command that comes again nor one that cannot begin has something to bring to the disk.
        #expect(try await receive(store) == .known(try #require(try await store.command("a"))))
        #expect(try await !store.beginCommand("b"))
        try await store.endCommand("a", .done, reason: nil)
        #expect(try await !store.beginCommand("a"))
        #expect(synced.count == 2)
        try store.close()
    }

    @Test func `a command whose start cannot be brought to the disk is not executed`() async throws {
        let store = try fixture.open(syncInterval: .seconds(3600))
        let synced = try LogSyncs(of: store)
        synced.fail(true)
        // It would be lost otherwise: as a known one, it would not begin when it comes again.
        #expect(try await receive(store) == .stored)
        await #expect(throws: StorageFailure.self) { try await store.beginCommand("a") }
        synced.fail(false)
        try store.close()
    }
}
