package import SystemSupport

/// A task with everything that a restart restores. Times are those of the monotonic clock of the boot that it names.
package struct TaskRecord: Hashable, Sendable {
    /// The task when it was stored; ``countingSince`` says what counts meanwhile.
    package var task: BackgroundTask
    package var directory: String?
    /// The task's own variables.
    package var environment: [String: String]
    package var times: TaskTimes
    /// The used part of the budget when it last began to count.
    package var used: Duration
    /// Since when the budget counts; `nil` while it is on hold, and after the end.
    package var countingSince: Duration?
    /// The kernel's id of the boot.
    package var boot: String
    package var running: RunningCommand?
    /// Whether a command asked the task to end.
    package var isEndRequested: Bool
    /// The position of the sample; `nil` for other tasks.
    package var position: Int?

    /// Creates a record of `task`.
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
