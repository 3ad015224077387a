import SystemSupport

extension Routes {
    /// The open tasks and the newest ended ones, oldest first.
    package static let tasks = Route<Empty, [BackgroundTask]>(.get, "/v1/tasks")
    package static let beginTask = Route<TaskRequest, BackgroundTask>(.post, "/v1/tasks", status: 201, access: .execute)
    package static let beginSample = Route<SampleRequest, BackgroundTask>(
        .post,
        "/v1/tasks/sample",
        status: 201,
        access: .execute
    )
    /// Removes the ended tasks from the list, with their output.
    package static let clearTasks = Route<Empty, ClearReply>(.delete, "/v1/tasks")
    package static let task = Route<Empty, BackgroundTask>(.get, "/v1/tasks/{id}")
    /// Replies when the task is over.
    package static let endTask = Route<Empty, BackgroundTask>(.post, "/v1/tasks/{id}/end")
    package static let taskLog = Route<Empty, TaskOutput>(.get, "/v1/tasks/{id}/log")
    package static let taskHooks = Route<Empty, [TaskHook]>(.get, "/v1/task-hooks")
    package static let addTaskHook = Route<TaskRequest, TaskHook>(
        .post,
        "/v1/task-hooks",
        status: 201,
        access: .execute
    )
    package static let removeTaskHook = Route<Empty, Empty>(
        .delete,
        "/v1/task-hooks/{name}",
        status: 204,
        access: .execute
    )
}

/// The body of `POST /v1/tasks` and `POST /v1/task-hooks`: a command with a budget of background time.
package struct TaskRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    package var name: String
    /// The program and its arguments. A program without a slash is searched in the command's PATH.
    package var command: [String]
    /// The absolute path of the working directory; absent for that of the service.
    package var directory: String?
    /// Variables for the command, by name.
    package var environment: [String: String]?
    /// Seconds.
    package var budget: Double?
    /// Seconds.
    package var grace: Double?
    package var strict: Bool?
    package var `repeat`: Bool?
    /// When a hook begins; absent means `detach`. A task that begins now has none.
    package var on: TaskHookEvent?

    /// Creates a task request.
    package init(
        name: String,
        command: [String],
        directory: String? = nil,
        environment: [String: String]? = nil,
        budget: Double? = nil,
        grace: Double? = nil,
        strict: Bool? = nil,
        repeat: Bool? = nil,
        on: TaskHookEvent? = nil
    ) {
        self.name = name
        self.command = command
        self.directory = directory
        self.environment = environment
        self.budget = budget
        self.grace = grace
        self.strict = strict
        self.repeat = `repeat`
        self.on = on
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case name, command, directory, environment, budget, grace, strict, `repeat`, on
    }
}

extension TaskRequest {
    private static let longestName = 100
    /// Tuned: bytes, because a character may have any number of them.
    private static let largestName = 400

    /// The fault of the name, in one line with the remedy; `nil` if it is valid.
    package var nameProblem: String? {
        guard !name.isEmpty else { return "the name is empty; use one such as upload" }
        guard name.count <= Self.longestName, name.utf8.count <= Self.largestName,
            name == name.withoutControlCharacters
        else {
            let text = String(name.unicodeScalars.prefix(Self.longestName))
            return
                "\(text.debugDescription) is not a valid task name; use at most \(Self.longestName) printable characters and \(Self.largestName) bytes"
        }
        return nil
    }
}

extension TaskRequest {
    /// The fault of the environment: which variable, and why; `nil` if it is valid.
    package var environmentProblem: String? {
        for (name, value) in environment ?? [:] {
            guard EnvironmentVariable.isName(name) else {
                return
                    "\(name.debugDescription) is not a valid variable name; use \(EnvironmentVariable.allowedNames)"
            }
            guard !value.utf8.contains(0) else { return "the value of \(name) contains a NUL" }
        }
        return nil
    }
}

/// The body of `POST /v1/tasks/sample`.
package struct SampleRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    /// Seconds.
    package var budget: Double?
    /// Seconds.
    package var grace: Double?

    /// Creates a sample request.
    package init(budget: Double? = nil, grace: Double? = nil) {
        self.budget = budget
        self.grace = grace
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case budget, grace
    }
}

/// The budget and the grace of a task, with defaults for those that a request omits.
package struct TaskTimes: Hashable, Sendable {
    /// Tuned: about what a phone allows.
    package static let standardBudget = Duration.seconds(180)
    package static let longestBudget = Duration.seconds(600)
    private static let standardGrace = Duration.seconds(5)
    /// Shorter times would be shown as 0.
    private static let least = Duration.milliseconds(1)

    package var budget: Duration
    package var grace: Duration

    /// Creates times; a default replaces a `nil`.
    ///
    /// - Throws: ``TaskTimesError`` unless 0 < grace < budget ≤ ``longestBudget``, to the millisecond.
    package init(budget: Duration?, grace: Duration?) throws(TaskTimesError) {
        self.budget = budget ?? Self.standardBudget
        guard self.budget >= Self.least, self.budget <= Self.longestBudget else { throw .budget(self.budget) }
        self.grace = grace ?? min(Self.standardGrace, self.budget / 2)
        guard self.grace >= Self.least / 2, self.grace < self.budget else {
            throw .grace(self.grace, budget: self.budget)
        }
    }
}

/// The error for times that are out of range.
package enum TaskTimesError: Error, Hashable, Sendable, CustomStringConvertible {
    case budget(Duration)
    case grace(Duration, budget: Duration)

    package var description: String {
        switch self {
        case .budget(let budget):
            "the budget \(Durations.text(budget)) is out of range; use more than 0 and at most \(Durations.text(TaskTimes.longestBudget))"
        case .grace(let grace, let budget):
            "the grace \(Durations.text(grace)) is out of range; use more than 0 and less than the budget of \(Durations.text(budget))"
        }
    }
}
