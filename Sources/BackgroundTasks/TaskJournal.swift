package import BackgrounderAPI

/// The storage of everything that a restart restores. Each call is one transaction, committed when it returns.
package protocol TaskJournal: Sendable {
    /// Stores a new task and returns its id, which was never used before.
    func add(_ record: TaskRecord) async throws -> Int
    /// Stores the records of existing tasks.
    func save(_ records: [TaskRecord]) async throws
    /// Deletes tasks.
    func remove(_ ids: [Int]) async throws
    /// Deletes the hooks with the names `removed`, then stores new ones.
    func changeHooks(removing removed: [String], adding hooks: [TaskHook]) async throws
}

/// The tasks and hooks that were stored.
package struct SavedTasks: Sendable {
    /// Ordered by id, oldest first.
    package var records: [TaskRecord]
    package var hooks: [TaskHook]

    /// Creates saved tasks; by default none.
    package init(records: [TaskRecord] = [], hooks: [TaskHook] = []) {
        self.records = records
        self.hooks = hooks
    }
}
