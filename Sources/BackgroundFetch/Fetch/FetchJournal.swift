package import BackgrounderAPI
package import FoundationEssentials

/// Keeps what the scheduler must find again.
package protocol FetchJournal: Sendable {
    /// All steps or none; they are there after a crash when this returns.
    func save(_ changes: [FetchChange]) async throws
    /// Whether background refresh is on at all.
    func save(isOn: Bool) async throws
    /// What was saved with the content of `source`.
    func seen(_ source: String) async throws -> Data?
}

/// What a scheduler begins with.
package struct SavedFetchState: Sendable {
    package struct Source: Sendable {
        package var definition: FetchDefinition
        package var standing: FetchStanding
        package var unseen: Int

        package init(definition: FetchDefinition, standing: FetchStanding, unseen: Int = 0) {
            self.definition = definition
            self.standing = standing
            self.unseen = unseen
        }
    }

    /// In the order in which they were added.
    package var sources: [Source] = []
    package var opens: [String: [OpenRecord]] = [:]
    package var isOn = true
    /// The greatest id that a run had.
    package var lastRun = 0
    /// Runs whose end was never told.
    package var openRuns: [FetchRun] = []

    package init() {}
}

/// What happens in a ``FetchScheduler``.
package enum FetchEvent: Sendable {
    /// A run began or ended.
    case run(FetchRun)
    /// Something else changed.
    case changed
}
