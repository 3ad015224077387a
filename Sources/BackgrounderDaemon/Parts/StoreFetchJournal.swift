import BackgroundFetch
import BackgrounderAPI
import FoundationEssentials
import Logging
import StateStore

/// The fetch mode's journal, kept in the store.
struct StoreFetchJournal: FetchJournal {
    let store: StateStore

    /// The switch of all sources, as the store has it.
    private struct Switch: Codable {
        var isOn: Bool
    }

    func save(_ changes: [FetchChange]) async throws {
        // That a run began is for a restart of the service; after one of the machine its end is as good.
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

    /// The store gives a write up when its task is cancelled; but how a run ended that was broken off is to be kept.
    private func uncancelled(_ body: @escaping @Sendable () async throws -> Void) async throws {
        try await Task { try await body() }.value
    }

    /// What a scheduler goes on with. A source whose standing cannot be read begins anew, which is said.
    func saved(logger: Logger) throws -> SavedFetchState {
        var saved = SavedFetchState()
        saved.sources = try store.fetchSources().map { source in
            let standing: FetchStanding
            do {
                standing = try JSON.decode(FetchStanding.self, from: source.standing)
            } catch {
                logger.error("\(source.definition.name): how it stood cannot be read, and it begins anew: \(error)")
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
