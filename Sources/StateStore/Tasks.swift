package import BackgrounderAPI
import FoundationEssentials
import GRDB

/// A row of the table `task`. Times are nanoseconds on the monotonic clock of `boot`.
package struct StoredTask: Sendable {
    /// The task as it was when it was stored. A new task gets its id from the database; the id here is ignored.
    package var task: BackgroundTask
    package var directory: String?
    package var environment: [String: String]
    package var budget: Int64
    package var grace: Int64
    package var used: Int64
    package var countingSince: Int64?
    package var boot: String
    package var isEndRequested: Bool
    /// The process, in the mode's own encoding: a JSON object.
    package var running: String?
    package var position: Int?

    /// Creates a row from the values of its columns.
    package init(
        task: BackgroundTask,
        directory: String?,
        environment: [String: String],
        budget: Int64,
        grace: Int64,
        used: Int64,
        countingSince: Int64?,
        boot: String,
        isEndRequested: Bool,
        running: String?,
        position: Int?
    ) {
        self.task = task
        self.directory = directory
        self.environment = environment
        self.budget = budget
        self.grace = grace
        self.used = used
        self.countingSince = countingSince
        self.boot = boot
        self.isEndRequested = isEndRequested
        self.running = running
        self.position = position
    }
}

extension StateStore {
    /// Returns all stored tasks, oldest first. Blocks the calling thread.
    package func tasks() throws -> [StoredTask] {
        try read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM task ORDER BY id").map { try StoredTask($0) }
        }
    }

    /// Stores a new task durably.
    ///
    /// - Returns: the id of the task.
    package func add(_ task: StoredTask) async throws -> Int {
        try await write(durable: true) { database in
            try database.execute(
                sql: """
                    INSERT INTO task (name, command, directory, state, budget, grace, used, countingSince, boot, strict,
                        repeats, isEndRequested, running, pid, exitStatus, detail, position, environment)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    task.task.name, try JSON.line(task.task.command), task.directory, task.task.state.rawValue,
                    task.budget, task.grace, task.used, task.countingSince, task.boot, task.task.strict,
                    task.task.repeat, task.isEndRequested, task.running, task.task.pid, task.task.exitStatus,
                    task.task.detail, task.position, try JSON.line(task.environment),
                ]
            )
            return Int(database.lastInsertedRowID)
        }
    }

    /// Updates the stored tasks durably: their state, budget use, processes and results, not the command and its
    /// settings.
    package func save(_ tasks: [StoredTask]) async throws {
        try await write(durable: true) { database in
            let update = try database.cachedStatement(
                sql: """
                    UPDATE task SET state = ?, used = ?, countingSince = ?, repeats = ?, isEndRequested = ?, running = ?,
                        pid = ?, exitStatus = ?, detail = ?, position = ? WHERE id = ?
                    """
            )
            for task in tasks {
                try update.execute(arguments: [
                    task.task.state.rawValue, task.used, task.countingSince, task.task.repeat, task.isEndRequested,
                    task.running, task.task.pid, task.task.exitStatus, task.task.detail, task.position, task.task.id,
                ])
            }
        }
    }

    /// Deletes the tasks with these ids durably.
    package func removeTasks(_ ids: [Int]) async throws {
        try await write(durable: true) { database in
            for id in ids { try database.execute(sql: "DELETE FROM task WHERE id = ?", arguments: [id]) }
        }
    }

    /// Returns all task hooks, in the order of their names. Blocks the calling thread.
    package func taskHooks() throws -> [TaskHook] {
        try read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM taskHook ORDER BY name").map { row in
                TaskHook(
                    name: row["name"],
                    command: try JSON.decode([String].self, from: Data((row["command"] as String).utf8)),
                    directory: row["directory"],
                    environment: try variables(row),
                    budget: row["budget"],
                    grace: row["grace"],
                    strict: row["strict"],
                    repeat: row["repeats"]
                )
            }
        }
    }

    /// Stores a new task hook durably.
    ///
    /// - Throws: `DatabaseError` if there is one with this name.
    package func add(_ hook: TaskHook) async throws {
        try await write(durable: true) { database in
            try database.execute(
                sql: """
                    INSERT INTO taskHook (name, command, directory, budget, grace, strict, repeats, environment)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    hook.name, try JSON.line(hook.command), hook.directory, hook.budget, hook.grace, hook.strict,
                    hook.repeat, try JSON.line(hook.environment),
                ]
            )
        }
    }

    /// Deletes the task hook with this name durably.
    package func removeTaskHook(_ name: String) async throws {
        try await write(durable: true) { database in
            try database.execute(sql: "DELETE FROM taskHook WHERE name = ?", arguments: [name])
        }
    }
}

/// Returns the environment variables in a row of a task or hook.
private func variables(_ row: Row) throws -> [String: String] {
    try JSON.decode([String: String].self, from: Data((row["environment"] as String).utf8))
}

extension StoredTask {
    fileprivate init(_ row: Row) throws {
        let (budget, grace, used) = (row["budget"] as Int64, row["grace"] as Int64, row["used"] as Int64)
        self.init(
            task: BackgroundTask(
                id: row["id"],
                name: row["name"],
                command: try JSON.decode([String].self, from: Data((row["command"] as String).utf8)),
                state: BackgroundTaskState(rawValue: row["state"]) ?? .lost,
                budget: Double(budget) / 1e9,
                grace: Double(grace) / 1e9,
                used: Double(used / 1_000_000) / 1000,
                strict: row["strict"],
                repeat: row["repeats"],
                pid: row["pid"],
                exitStatus: row["exitStatus"],
                detail: row["detail"]
            ),
            directory: row["directory"],
            environment: try variables(row),
            budget: budget,
            grace: grace,
            used: used,
            countingSince: row["countingSince"],
            boot: row["boot"],
            isEndRequested: row["isEndRequested"],
            running: row["running"],
            position: row["position"]
        )
    }
}
