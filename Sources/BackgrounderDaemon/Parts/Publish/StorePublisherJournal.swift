import BackgrounderAPI
import FleetPublisher
import FoundationEssentials
import StateStore

/// The journal of the publishers, backed by the store.
struct StorePublisherJournal: PublisherJournal {
    let store: StateStore

    func points(after id: Int64, limit: Int) throws -> [PublishedPoint] { try store.points(after: id, limit: limit) }

    var deletions: Int { store.deletions }

    func newestPointID() async throws -> Int64 { try await store.newestPointID() }

    func lastPoint(before time: Date) async throws -> Int64 { try await store.lastPoint(before: time) }

    func save(_ progress: PublishProgress, of publisher: String) throws { try store.save(progress, of: publisher) }

    func saveWithNextPoints(_ progress: PublishProgress, of publisher: String) -> Bool {
        store.saveWithNextPoints(progress, of: publisher)
    }

    func answered(_ command: String) throws { try store.answeredCommand(command) }

    func setPaused(_ isPaused: Bool, of publisher: String) async throws {
        try await store.setPaused(isPaused, of: publisher)
    }

    func change(removing removed: [String], adding added: [StoredPublisher], adopting adopted: [String]) async throws {
        try await store.changePublishers(removing: removed, adding: added, adopting: adopted)
    }
}
