/// A finite-length task: a command with a budget of background time.
package struct BackgroundTask: Codable, Hashable, Sendable {
    /// Never reused.
    package var id: Int
    package var name: String
    /// The program and its arguments.
    package var command: [String]
    package var state: BackgroundTaskState
    /// Seconds of background time.
    package var budget: Double
    /// Seconds before the end of the budget at which the task is asked to end.
    package var grace: Double
    /// Used seconds of the budget.
    package var used: Double
    /// Remaining seconds; absent while the budget does not count, and after the end.
    package var remaining: Double?
    /// Whether the budget counts while a client is attached, too.
    package var strict: Bool
    /// Whether the task begins again at the next attach after it expired.
    package var `repeat`: Bool
    /// Absent until the command runs, and for the sample.
    package var pid: Int32?
    /// The exit status as in a shell: 128 plus the signal's number if a signal ended it. Absent until then.
    package var exitStatus: Int32?
    /// The reason for a failure, or the sample's newest number.
    package var detail: String?

    /// Creates a background task.
    package init(
        id: Int,
        name: String,
        command: [String],
        state: BackgroundTaskState,
        budget: Double,
        grace: Double,
        used: Double = 0,
        remaining: Double? = nil,
        strict: Bool = false,
        repeat: Bool = false,
        pid: Int32? = nil,
        exitStatus: Int32? = nil,
        detail: String? = nil
    ) {
        self.id = id
        self.name = name
        self.command = command
        self.state = state
        self.budget = budget
        self.grace = grace
        self.used = used
        self.remaining = remaining
        self.strict = strict
        self.repeat = `repeat`
        self.pid = pid
        self.exitStatus = exitStatus
        self.detail = detail
    }
}

/// The state of a task.
package enum BackgroundTaskState: String, Codable, CaseIterable, Sendable {
    case running
    /// Asked to end: only the grace is left of the budget.
    case expiring
    /// Ended with its budget.
    case expired
    /// Ended by `end`, or with the service.
    case ended
    /// Exited by itself with status 0.
    case finished
    /// Exited by itself with another status, or could not be started.
    case failed
    /// It was running when the service died, and had disappeared when the service came back.
    case lost

    /// Whether the task still has a process.
    package var isOpen: Bool { self == .running || self == .expiring }
}

/// When a hook begins its task.
package enum TaskHookEvent: String, Codable, CaseIterable, Sendable {
    /// Each time the last client detaches.
    case detach
    /// When a rule of a place names the hook.
    case place
}

/// A command that begins as a task when something happens.
package struct TaskHook: Codable, Hashable, Sendable {
    /// The name of the hook and of its tasks.
    package var name: String
    /// Whether the configuration file declares it, so that commands cannot remove it.
    package var declared: Bool
    package var on: TaskHookEvent
    package var command: [String]
    /// The working directory of its tasks; absent for that of the service.
    package var directory: String?
    /// The variables of its tasks. Not in the JSON: they may be secrets, and members of `control.group` can list hooks.
    package var environment: [String: String] = [:]
    /// Seconds.
    package var budget: Double
    /// Seconds.
    package var grace: Double
    package var strict: Bool
    package var `repeat`: Bool

    private enum CodingKeys: String, CodingKey {
        case name, declared, on, command, directory, budget, grace, strict, `repeat`
    }

    /// Creates a task hook.
    package init(
        name: String,
        declared: Bool = false,
        on: TaskHookEvent = .detach,
        command: [String],
        directory: String? = nil,
        environment: [String: String] = [:],
        budget: Double,
        grace: Double,
        strict: Bool = false,
        repeat: Bool = false
    ) {
        self.name = name
        self.declared = declared
        self.on = on
        self.command = command
        self.directory = directory
        self.environment = environment
        self.budget = budget
        self.grace = grace
        self.strict = strict
        self.repeat = `repeat`
    }
}

/// The output of a task on stdout and stderr.
package struct TaskOutput: Codable, Hashable, Sendable {
    package var id: Int
    /// The output, with U+FFFD in place of invalid UTF-8.
    package var text: String
    /// Whether the task printed more than is kept.
    package var truncated: Bool

    /// Creates a task output.
    package init(id: Int, text: String, truncated: Bool) {
        self.id = id
        self.text = text
        self.truncated = truncated
    }
}
