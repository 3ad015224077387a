extension Routes {
    /// The open ones and the newest that are over, oldest first.
    package static let tasks = Route<Empty, [BackgroundTask]>(.get, "/v1/tasks")
    package static let beginTask = Route<TaskRequest, BackgroundTask>(.post, "/v1/tasks", status: 201, access: .execute)
    package static let beginSample = Route<SampleRequest, BackgroundTask>(
        .post,
        "/v1/tasks/sample",
        status: 201,
        access: .execute
    )
    package static let task = Route<Empty, BackgroundTask>(.get, "/v1/tasks/{id}")
    /// Answers when it is over.
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

/// `POST /v1/tasks` and `POST /v1/task-hooks`: a command that gets a budget of background time.
package struct TaskRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    package var name: String
    /// The program and its arguments; one without a slash is looked for in its PATH.
    package var command: [String]
    /// An absolute path; the service's own directory where there is none.
    package var directory: String?
    /// Variables for the command, by name.
    package var environment: [String: String]?
    /// Seconds.
    package var budget: Double?
    /// Seconds.
    package var grace: Double?
    package var strict: Bool?
    package var `repeat`: Bool?

    package init(
        name: String,
        command: [String],
        directory: String? = nil,
        environment: [String: String]? = nil,
        budget: Double? = nil,
        grace: Double? = nil,
        strict: Bool? = nil,
        repeat: Bool? = nil
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

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case name, command, directory, environment, budget, grace, strict, `repeat`
    }
}

extension TaskRequest {
    private static let longestName = 100
    /// judgement: bytes, since a character may have any number of them
    private static let largestName = 400

    /// What is wrong with the name: what, why and what to do.
    package var nameProblem: String? {
        guard !name.isEmpty else { return "the name is empty: give one, such as upload" }
        guard name.count <= Self.longestName, name.utf8.count <= Self.largestName,
            name == name.withoutControlCharacters
        else {
            let text = String(name.unicodeScalars.prefix(Self.longestName))
            return
                "\(text.debugDescription) is no name for a task: give at most \(Self.longestName) printable characters and \(Self.largestName) bytes"
        }
        return nil
    }
}

extension TaskRequest {
    /// What is wrong with the environment: which variable, and why.
    package var environmentProblem: String? {
        for (name, value) in environment ?? [:] {
            guard EnvironmentVariable.isName(name) else {
                return
                    "\(name.debugDescription) is not a name for a variable: give \(EnvironmentVariable.allowedNames)"
            }
            guard !value.utf8.contains(0) else { return "the value of \(name) has a NUL in it" }
        }
        return nil
    }
}

/// `POST /v1/tasks/sample`.
package struct SampleRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    /// Seconds.
    package var budget: Double?
    /// Seconds.
    package var grace: Double?

    package init(budget: Double? = nil, grace: Double? = nil) {
        self.budget = budget
        self.grace = grace
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case budget, grace
    }
}

/// The times of a task: what is asked for, with what stands for the rest.
package struct TaskTimes: Hashable, Sendable {
    /// judgement: about what a phone gives
    package static let standardBudget = Duration.seconds(180)
    package static let longestBudget = Duration.seconds(600)
    private static let standardGrace = Duration.seconds(5)
    /// What is less is shown as 0.
    private static let least = Duration.milliseconds(1)

    package var budget: Duration
    package var grace: Duration

    /// - Throws: ``TaskTimesError`` unless 0 < grace < budget ≤ ``longestBudget``, as far as milliseconds tell.
    package init(budget: Duration?, grace: Duration?) throws(TaskTimesError) {
        self.budget = budget ?? Self.standardBudget
        guard self.budget >= Self.least, self.budget <= Self.longestBudget else { throw .budget(self.budget) }
        self.grace = grace ?? min(Self.standardGrace, self.budget / 2)
        guard self.grace >= Self.least / 2, self.grace < self.budget else {
            throw .grace(self.grace, budget: self.budget)
        }
    }
}

package enum TaskTimesError: Error, Hashable, Sendable, CustomStringConvertible {
    case budget(Duration)
    case grace(Duration, budget: Duration)

    package var description: String {
        switch self {
        case .budget(let budget):
            "a budget of \(Durations.text(budget)) cannot be: give more than 0 and at most \(Durations.text(TaskTimes.longestBudget))"
        case .grace(let grace, let budget):
            "a grace of \(Durations.text(grace)) cannot be: give more than 0 and less than the budget of \(Durations.text(budget))"
        }
    }
}
