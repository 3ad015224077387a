package import BackgrounderAPI
package import FoundationEssentials

/// The persistent storage of a ``FetchScheduler``.
package protocol FetchJournal: Sendable {
    /// Saves all of `changes` or none. They survive a crash of the service as soon as this returns.
    func save(_ changes: [FetchChange]) async throws
    /// Saves whether background refresh is on for all sources.
    func save(isOn: Bool) async throws
    /// Returns the seen items that were saved with the content of `source`.
    func seen(_ source: String) async throws -> Data?
}

/// The saved state with which a ``FetchScheduler`` starts.
package struct SavedFetchState: Sendable {
    /// A source and its state.
    package struct Source: Sendable {
        package var definition: FetchDefinition
        package var state: FetchSourceState
        /// The number of new items since the last open.
        package var unseen: Int
        /// Whether the configuration declares it.
        package var isDeclared: Bool

        /// Creates a source as it was saved.
        package init(definition: FetchDefinition, state: FetchSourceState, unseen: Int = 0, isDeclared: Bool = false) {
            self.definition = definition
            self.state = state
            self.unseen = unseen
            self.isDeclared = isDeclared
        }
    }

    /// The sources in the order in which they were added.
    package var sources: [Source] = []
    /// The opens by source, oldest first.
    package var opens: [String: [FetchOpen]] = [:]
    /// Whether background refresh is on.
    package var isOn = true
    /// The highest id of a run.
    package var lastRun = 0
    /// Runs without a saved end: a crash interrupted them.
    package var openRuns: [FetchRun] = []

    /// Creates the state of a service without sources.
    package init() {}
}

/// An event of a ``FetchScheduler``.
package enum FetchEvent: Sendable {
    /// A run began or ended.
    case run(FetchRun)
    /// The sources, their state or the plan changed.
    case changed
}
