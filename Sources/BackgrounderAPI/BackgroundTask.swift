/// A finite-length task: a command that has a budget of time in the background.
package struct BackgroundTask: Codable, Hashable, Sendable {
    /// Never given again.
    package var id: Int
    package var name: String
    /// The program and its arguments.
    package var command: [String]
    package var state: BackgroundTaskState
    /// Seconds of background time.
    package var budget: Double
    /// Seconds before the end of the budget at which it is asked to end.
    package var grace: Double
    /// Seconds of the budget that are gone.
    package var used: Double
    /// Seconds that are left; absent while nothing counts, since somebody is attached, and once it is over.
    package var remaining: Double?
    /// Whether the budget counts while somebody is attached, too.
    package var strict: Bool
    /// Whether it begins again when a client attaches.
    package var `repeat`: Bool
    package var pid: Int32?
    /// As a shell has it: 128 and the signal's number where a signal ended it.
    package var exitStatus: Int32?
    /// What there is to say of it: why it failed, or the sample's newest number.
    package var detail: String?

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

package enum BackgroundTaskState: String, Codable, CaseIterable, Sendable {
    case running
    /// Asked to end: what is left of the budget is its grace.
    case expiring
    /// Ended with its budget.
    case expired
    /// Ended by `end`, or with the service.
    case ended
    /// Exited by itself with status 0.
    case finished
    /// Exited by itself with another status, or could not be started.
    case failed
    /// It ran when the service died, and was not there when the service came back.
    case lost

    /// Whether there is still a process of it.
    package var isOpen: Bool { self == .running || self == .expiring }
}

/// A command that begins as a task each time the last client leaves.
package struct TaskHook: Codable, Hashable, Sendable {
    /// Of the hook, and of its tasks.
    package var name: String
    package var command: [String]
    /// The directory that its tasks begin in; the service's where there is none.
    package var directory: String?
    /// Variables of its tasks. Absent from JSON: they may be secrets, and members of `control.group` can list hooks.
    package var environment: [String: String] = [:]
    /// Seconds.
    package var budget: Double
    /// Seconds.
    package var grace: Double
    package var strict: Bool
    package var `repeat`: Bool

    private enum CodingKeys: String, CodingKey {
        case name, command, directory, budget, grace, strict, `repeat`
    }

    package init(
        name: String,
        command: [String],
        directory: String? = nil,
        environment: [String: String] = [:],
        budget: Double,
        grace: Double,
        strict: Bool = false,
        repeat: Bool = false
    ) {
        self.name = name
        self.command = command
        self.directory = directory
        self.environment = environment
        self.budget = budget
        self.grace = grace
        self.strict = strict
        self.repeat = `repeat`
    }
}

/// What a task printed, on stdout and stderr.
package struct TaskOutput: Codable, Hashable, Sendable {
    package var id: Int
    /// With U+FFFD for what is no UTF-8.
    package var text: String
    /// Whether it printed more than is kept.
    package var truncated: Bool

    package init(id: Int, text: String, truncated: Bool) {
        self.id = id
        self.text = text
        self.truncated = truncated
    }
}
