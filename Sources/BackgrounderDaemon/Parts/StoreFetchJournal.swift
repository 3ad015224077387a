import BackgroundFetch
import BackgrounderAPI
import FoundationEssentials
import Logging
import StateStore

/// The fetch mode's journal, backed by the store.
struct StoreFetchJournal: FetchJournal {
    let store: StateStore

    /// The switch for all sources as it is stored.
    private struct Switch: Codable {
        var isOn: Bool
    }

    func save(_ changes: [FetchChange]) async throws {
        // The begin of a run matters only after a restart of the service; after a power cut its end is enough.
        let isDurable = changes.contains { change in
            if case .began = change { false } else { true }
        }
        try await uncancelled { try await store.save(changes, durable: isDurable) }
    }

    func save(isOn: Bool) async throws {
        let value = try JSON.encode(Switch(isOn: isOn))
        let record = StateRecord(name: BackgroundMode.fetch.rawValue, value: value)
        try await uncancelled { try await store.save(record, durable: true) }
    }

    func seen(_ source: String) async throws -> Data? {
        try await store.fetchSeen(of: source)
    }

    /// Runs `body` in a task of its own: the store aborts a write if its task is cancelled, but the end of a cancelled run must be
    /// stored.
    private func uncancelled(_ body: @escaping @Sendable () async throws -> Void) async throws {
        try await Task { try await body() }.value
    }

    /// Returns the state that a scheduler continues from. A source whose state cannot be read starts fresh, which is logged.
    func saved(logger: Logger) throws -> SavedFetchState {
        var saved = SavedFetchState()
        saved.sources = try store.fetchSources().map { source in
            let standing: FetchStanding
            do {
                standing = try JSON.decode(FetchStanding.self, from: source.standing)
            } catch {
                logger.error("\(source.definition.name): cannot read the saved state: \(error); starting fresh")
                standing = FetchStanding(since: Date())
            }
            return .init(definition: source.definition, standing: standing, unseen: source.unseen)
        }
        saved.opens = try store.fetchOpens().mapValues { opens in
            opens.map { OpenRecord(at: $0.at, secondsFromGMT: $0.secondsFromGMT) }
        }
        saved.lastRun = try store.lastFetchRun()
        saved.openRuns = try store.openFetchRuns()
        if let value = try store.state(BackgroundMode.fetch.rawValue) {
            saved.isOn = (try? JSON.decode(Switch.self, from: value).isOn) ?? true
        }
        return saved
    }
}
