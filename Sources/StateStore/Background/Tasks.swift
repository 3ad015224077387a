package import BackgrounderAPI
import FoundationEssentials
import GRDB
import SystemSupport

extension StateStore {
    /// Returns the stored tasks, oldest first. Blocks the calling thread.
    ///
    /// - Parameter onUnreadable: called for each task that is left out because it cannot be read, with its id.
    package func tasks(onUnreadable: (_ id: Int, _ error: any Error) -> Void) throws -> [TaskRecord] {
        try read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM task ORDER BY id").compactMap { row in
                do {
                    return try TaskRecord(row)
                } catch {
                    onUnreadable(row["id"], error)
                    return nil
                }
            }
        }
    }

    /// Stores a new task durably. The id in its record is ignored.
    ///
    /// - Returns: the id of the task.
    package func add(_ record: TaskRecord) async throws -> Int {
        try await write(durable: true) { database in
            let task = record.task
            try database.execute(
                sql: """
                    INSERT INTO task (name, command, directory, state, budget, grace, used, countingSince, boot, strict,
                        repeats, isEndRequested, running, pid, exitStatus, detail, position, environment)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    task.name, try JSON.line(task.command), record.directory, task.state.rawValue,
                    record.times.budget.nanoseconds, record.times.grace.nanoseconds, record.used.nanoseconds,
                    record.countingSince?.nanoseconds, record.boot, task.strict, task.repeat, record.isEndRequested,
                    try record.running.map { try JSON.line($0) }, task.pid, task.exitStatus, task.detail,
                    record.position, try JSON.line(record.environment),
                ]
            )
            return Int(database.lastInsertedRowID)
        }
    }

    /// Updates the stored tasks durably: their state, budget use, processes and results, not the command and its
    /// settings.
    package func save(_ records: [TaskRecord]) async throws {
        try await write(durable: true) { database in
            let update = try database.cachedStatement(
                sql: """
                    UPDATE task SET state = ?, used = ?, countingSince = ?, repeats = ?, isEndRequested = ?, running = ?,
                        pid = ?, exitStatus = ?, detail = ?, position = ? WHERE id = ?
                    """
            )
            for record in records {
                let task = record.task
                try update.execute(arguments: [
                    task.state.rawValue, record.used.nanoseconds, record.countingSince?.nanoseconds, task.repeat,
                    record.isEndRequested, try record.running.map { try JSON.line($0) }, task.pid, task.exitStatus,
                    task.detail, record.position, task.id,
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
                    declared: row["declared"],
                    on: TaskHookEvent(rawValue: row["event"]) ?? .detach,
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

    /// Deletes the task hooks with the names `removed`, then stores new ones, in one durable transaction.
    ///
    /// - Throws: `DatabaseError` if there is one with the name of a new one.
    package func changeTaskHooks(removing removed: [String], adding hooks: [TaskHook]) async throws {
        try await write(durable: true) { database in
            for name in removed {
                try database.execute(sql: "DELETE FROM taskHook WHERE name = ?", arguments: [name])
            }
            for hook in hooks {
                try database.execute(
                    sql: """
                        INSERT INTO taskHook (name, command, directory, budget, grace, strict, repeats, environment,
                            declared, event)
                        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                        """,
                    arguments: [
                        hook.name, try JSON.line(hook.command), hook.directory, hook.budget, hook.grace, hook.strict,
                        hook.repeat, try JSON.line(hook.environment), hook.declared,
                        hook.on.rawValue,
                    ]
                )
            }
        }
    }
}

/// Returns the environment variables in a row of a task or hook.
private func variables(_ row: Row) throws -> [String: String] {
    try JSON.decode([String: String].self, from: Data((row["environment"] as String).utf8))
}

extension TaskRecord {
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
            times: try TaskTimes(budget: .nanoseconds(budget), grace: .nanoseconds(grace)),
            used: .nanoseconds(used),
            countingSince: (row["countingSince"] as Int64?).map { .nanoseconds($0) },
            boot: row["boot"],
            running: try (row["running"] as String?).map {
                try JSON.decode(RunningCommand.self, from: Data($0.utf8))
            },
            isEndRequested: row["isEndRequested"],
            position: row["position"]
        )
    }
}
