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
        try await store.save(changes, durable: isDurable)
    }

    func save(isOn: Bool) async throws {
        let value = try JSON.encode(Switch(isOn: isOn))
        let record = StateRecord(name: BackgroundMode.fetch.rawValue, value: value)
        try await store.save(record, durable: true)
    }

    func seen(_ source: String) async throws -> Data? {
        try await store.fetchSeen(of: source)
    }

    /// Returns the state that a scheduler continues from. A source whose state cannot be read starts fresh, which is logged.
    func saved(logger: Logger) throws -> SavedFetchState {
        var saved = SavedFetchState()
        saved.sources = try store.fetchSources().map { source in
            let state: FetchSourceState
            do {
                state = try JSON.decode(FetchSourceState.self, from: source.state)
            } catch {
                logger.error("\(source.definition.name): cannot read the saved state: \(error); starting fresh")
                state = FetchSourceState(since: Date())
            }
            return .init(
                definition: source.definition,
                state: state,
                unseen: source.unseen,
                isDeclared: source.isDeclared
            )
        }
        saved.opens = try store.fetchOpens()
        saved.lastRun = try store.lastFetchRun()
        saved.openRuns = try store.openFetchRuns()
        if let value = try store.state(BackgroundMode.fetch.rawValue) {
            saved.isOn = (try? JSON.decode(Switch.self, from: value).isOn) ?? true
        }
        return saved
    }
}
