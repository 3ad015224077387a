package import BackgrounderAPI

/// The storage of everything that a restart restores. Each call is one transaction, committed when it returns.
package protocol TaskJournal: Sendable {
    /// Stores a new task and returns its id, which was never used before.
    func add(_ record: TaskRecord) async throws -> Int
    /// Stores the records of existing tasks.
    func save(_ records: [TaskRecord]) async throws
    /// Deletes tasks.
    func remove(_ ids: [Int]) async throws
    /// Stores a hook.
    func add(_ hook: TaskHook) async throws
    /// Deletes a hook.
    func removeHook(_ name: String) async throws
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
