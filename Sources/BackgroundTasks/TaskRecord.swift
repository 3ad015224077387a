package import BackgrounderAPI
package import ChildProcesses

/// A task with all that a restart must give back. Times are those of the monotonic clock of the boot that it names.
package struct TaskRecord: Hashable, Sendable {
    /// As it was when it was stored: what counts meanwhile is in ``countingSince``.
    package var task: BackgroundTask
    package var directory: String?
    /// Variables of its own.
    package var environment: [String: String]
    package var times: TaskTimes
    /// What of the budget had gone when it began to count last.
    package var used: Duration
    /// Since when it counts; `nil` while it is held, and once it is over.
    package var countingSince: Duration?
    /// The kernel's id of the boot.
    package var boot: String
    package var running: RunningCommand?
    /// Whether it was somebody's wish that it ends.
    package var isEndRequested: Bool
    /// Of the sample alone: where it is in its numbers.
    package var position: Int?

    package init(
        task: BackgroundTask,
        directory: String? = nil,
        environment: [String: String] = [:],
        times: TaskTimes,
        used: Duration = .zero,
        countingSince: Duration? = nil,
        boot: String,
        running: RunningCommand? = nil,
        isEndRequested: Bool = false,
        position: Int? = nil
    ) {
        self.task = task
        self.directory = directory
        self.environment = environment
        self.times = times
        self.used = used
        self.countingSince = countingSince
        self.boot = boot
        self.running = running
        self.isEndRequested = isEndRequested
        self.position = position
    }
}

/// Where the scheduler writes what a restart must give back. One call is one transaction, committed when it returns.
package protocol TaskJournal: Sendable {
    /// - Returns: the id of the new task, never given before.
    func add(_ record: TaskRecord) async throws -> Int
    func save(_ records: [TaskRecord]) async throws
    func remove(_ ids: [Int]) async throws
    func add(_ hook: TaskHook) async throws
    func removeHook(_ name: String) async throws
}

/// What the service found in its store.
package struct SavedTasks: Sendable {
    /// By id, oldest first.
    package var records: [TaskRecord]
    package var hooks: [TaskHook]

    package init(records: [TaskRecord] = [], hooks: [TaskHook] = []) {
        self.records = records
        self.hooks = hooks
    }
}
